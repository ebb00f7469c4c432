import Foundation

/// A running driver, ready for repetitions.
final class DriverProcess {
    /// What went wrong with a driver.
    enum Failure: Error, CustomStringConvertible {
        case ended(String)

        var description: String {
            switch self {
            case .ended(let program): "the driver \(program) ended early"
            }
        }
    }

    let peer: Peer
    private(set) var greeting: DriverAnswer
    private let process = Process()
    private let input = Pipe()
    private let output: FileHandle
    private var unread = Data()

    /// Starts a peer's driver and waits until it is ready.
    init(_ role: Role, _ settings: Settings, subject: String, size: Int) throws {
        peer = role.peer
        let pipe = Pipe()
        output = pipe.fileHandleForReading
        process.executableURL = URL(fileURLWithPath: settings.path(of: role))
        process.arguments = [role.part ?? subject, settings.workloads, String(size)]
        process.standardInput = input
        process.standardOutput = pipe
        if subject == "allocations" {
            var environment = ProcessInfo.processInfo.environment
            environment["LD_PRELOAD"] = settings.allocationCounter
            // Older versions of GLib have an allocator of their own for small pieces.
            environment["G_SLICE"] = "always-malloc"
            process.environment = environment
        }
        greeting = DriverAnswer(version: nil, skipped: nil, note: nil, seconds: nil, operations: nil, facts: nil)
        try process.run()
        greeting = try answer()
    }

    /// Says something to the driver and waits for its answer.
    func ask(_ command: String) throws -> DriverAnswer {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        return try answer()
    }

    /// Lets the driver end.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func answer() throws -> DriverAnswer {
        while true {
            if let lineFeed = unread.firstIndex(of: 0x0A) {
                let line = unread[..<lineFeed]
                unread = Data(unread[(lineFeed + 1)...])
                return try JSONDecoder().decode(DriverAnswer.self, from: line)
            }
            let more = output.availableData
            if more.isEmpty { throw Failure.ended(peer.program) }
            unread += more
        }
    }
}
