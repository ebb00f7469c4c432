import CookieModel
import Foundation
import SessionStore
import Synchronization

/// Measures how long work that needs no store waits while another process holds the lock of a database and many requests
/// wait for it: a route of a server, and the main actor of an app. Prints a line of JSON.
///
/// With `--blocking`, the requests use the synchronous calls.
@main
enum StallBench {
    private static let requests = 64
    private static let seconds = 4.5

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "--hold", arguments.count == 2 { return try hold(arguments[2]) }
        guard arguments.allSatisfy({ $0 == "--blocking" }) else {
            throw UsageError(description: "usage: stall-bench [--blocking]")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "stall-bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let jar = try await open(folder).jar()
        let route = try await longestStall(of: jar, isBlocking: !arguments.isEmpty, folder) { work in
            Task.detached { await work() }
        }
        let mainActor = try await longestStall(of: jar, isBlocking: !arguments.isEmpty, folder) { work in
            Task { @MainActor in await work() }
        }
        print(
            "{\"requests\":\(requests),\"lockSeconds\":\(seconds),\"routeMilliseconds\":\(route),"
                + "\"mainActorMilliseconds\":\(mainActor)}")
    }

    private static func open(_ folder: String) async throws -> SessionDatabase {
        try await SessionDatabase.open(path: "\(folder)/crumb.sqlite", keys: .file("\(folder)/key"))
    }

    /// Holds the lock, as the other process.
    private static func hold(_ folder: String) throws {
        let jar = try SessionDatabase(path: "\(folder)/crumb.sqlite", keys: .file("\(folder)/key")).jar(now: .now)
        try jar.withBatch(now: .now) { batch throws(SessionStoreError) in
            try batch.receive(
                CookieRecord(name: "held", value: "1", domain: "other.example", isHostOnly: true, path: "/"))
            try? FileHandle.standardOutput.write(contentsOf: Data("held\n".utf8))
            Thread.sleep(forTimeInterval: seconds)
        }
    }

    /// How many milliseconds at most a task waits for its turn, while requests that were started in the same way wait for
    /// the lock.
    private static func longestStall(
        of jar: CookieJar, isBlocking: Bool, _ folder: String,
        starting start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) async throws -> Double {
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        let holder = Process()
        holder.executableURL = URL(filePath: CommandLine.arguments[0])
        holder.arguments = ["--hold", folder]
        let output = Pipe()
        holder.standardOutput = output
        try holder.run()
        _ = try output.fileHandleForReading.read(upToCount: 1)
        let tasks = (0..<requests).map { number in
            start {
                let response = ReceivedResponse(context: context, setCookie: [Octets("c\(number)=1")])
                if isBlocking {
                    _ = try? jar.receive(response, now: .now)
                } else {
                    _ = try? await jar.receive(response)
                }
            }
        }
        let longest = Mutex(Duration.zero)
        let end = ContinuousClock.now + .seconds(seconds - 0.5)
        // A thread of its own: it starts tasks even if those of Swift are blocked.
        await withCheckedContinuation { isDone in
            Thread {
                while ContinuousClock.now < end {
                    let began = ContinuousClock.now
                    let hasRun = DispatchSemaphore(value: 0)
                    _ = start { hasRun.signal() }
                    hasRun.wait()
                    longest.withLock { $0 = max($0, ContinuousClock.now - began) }
                    Thread.sleep(forTimeInterval: 0.001)
                }
                isDone.resume()
            }.start()
        }
        for task in tasks { await task.value }
        holder.waitUntilExit()
        return longest.withLock { $0 / .milliseconds(1) }
    }
}

private struct UsageError: Error, CustomStringConvertible {
    let description: String
}
