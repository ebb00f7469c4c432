import CookieModel
import Foundation
import Platform
import SessionStore
import TestSupport
import Testing

@Suite("Writes of another process")
struct FreshReadTests {
    /// How many orders one worker does.
    private static let rounds = 300

    private let place = WorkerHome()

    private func header(_ jar: CookieJar) throws -> String {
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        return try jar.cookieString(for: context, now: WorkerHome.now).description
    }

    @Test("Are in the very next header here, whatever they were", arguments: 0..<2)
    func next(seed: Int) throws {
        let jar = try place.jar()
        let worker = try ObedientWorker(place, database: place.database)
        var random = SeededGenerator(seed: UInt64(seed))
        var present = ""
        #expect(try worker.does("save") == "done")
        var saved = present
        for round in 0..<FreshReadTests.rounds {
            let order = random.pick(["set", "set", "set", "set", "delete", "save", "restore", "prune", "rotate"])
            switch order {
            case "set":
                present = "a=\(round)"
                #expect(try worker.does("\(present); Path=/") == "done")
            case "delete":
                present = ""
                #expect(try worker.does("a=; Path=/; Max-Age=0") == "done")
            default:
                if order == "save" { saved = present }
                if order == "restore" { present = saved }
                #expect(try worker.does(order) == "done")
            }
            try #require(try header(jar) == present, "round \(round), after \(order)")
            // Both see what this process writes, too.
            if random.once(in: 4) {
                present = "a=own\(round)"
                let context = RequestContext(url: try RequestURL("https://www.example.com/"))
                try jar.receive(
                    ReceivedResponse(context: context, setCookie: [Octets("\(present); Path=/")]), now: WorkerHome.now)
                try #require(try header(jar) == present, "round \(round), by this process")
                try #require(try worker.does("header") == present, "round \(round), there")
            }
        }
        #expect(try worker.does("a=last; Path=/") == "done" && header(jar) == "a=last")
        #expect(try worker.does("remove") == "done" && header(jar) == "")
        let result = worker.dismiss()
        #expect(result.status == 0, "\(result.messages)")
    }

    @Test("A process that ends takes nothing away from one that has the database open twice")
    func openTwice() throws {
        let jar = try place.jar()
        #expect(try header(jar) == "")
        // Opening it a second time must not cost the first one its locks: the worker would believe itself alone.
        let second = try place.jar()
        for value in 1...3 {
            let worker = try ObedientWorker(place, database: place.database)
            #expect(try worker.does("a=\(value); Path=/") == "done")
            let result = worker.dismiss()
            #expect(result.status == 0, "\(result.messages)")
            for jar in [jar, second, jar] { #expect(try header(jar) == "a=\(value)") }
            let context = RequestContext(url: try RequestURL("https://www.example.com/"))
            try jar.receive(
                ReceivedResponse(context: context, setCookie: [Octets("b=\(value); Path=/b")]), now: WorkerHome.now)
        }
    }

    @Test("A database with a relative name is found from wherever the process goes")
    func relative() throws {
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let relative = String(repeating: "../", count: depth) + place.database.dropFirst()
        let worker = try ObedientWorker(place, database: relative)
        #expect(try worker.does("go away") == "done")
        for value in 1...3 {
            #expect(try worker.does("a=\(value); Path=/") == "done")
            for _ in 0..<3 { #expect(try worker.does("header") == "a=\(value)") }
        }
        let result = worker.dismiss()
        #expect(result.status == 0, "\(result.messages)")
        #expect(try header(place.jar()) == "a=3")
    }
}

/// A worker process that does what it is told, and says so afterwards.
private struct ObedientWorker {
    private let process: RunningProcess
    private let pipes: [String]
    private let orders: FileHandle
    private let answers: UnsafeMutablePointer<FILE>

    init(_ place: WorkerHome, database: String) throws {
        pipes = (0..<2).map { _ in place.home.file("pipe-\(UUID().uuidString)") }
        for pipe in pipes { try #require(mkfifo(pipe, 0o600) == 0) }
        // Opened in ways that wait for nobody at the other end.
        let input = open(pipes[0], O_RDWR | O_CLOEXEC)
        let output = open(pipes[1], O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        orders = FileHandle(fileDescriptor: input, closeOnDealloc: true)
        process = try place.start("obey", .normal, [0], database: database, input: pipes[0], output: pipes[1])
        // From here on the worker has its end open: when it dies, this one is told.
        try #require(fcntl(output, F_SETFL, 0) == 0)
        answers = try #require(fdopen(output, "r"))
    }

    /// Gives an order and waits for the answer.
    func does(_ order: String) throws -> String {
        try orders.write(contentsOf: Data("\(order)\n".utf8))
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        guard getline(&line, &capacity, answers) > 0, let line else { return "no answer" }
        return String(cString: line).trimmingCharacters(in: .newlines)
    }

    /// Lets the worker come to its end.
    func dismiss() -> RunResult {
        try? orders.close()
        fclose(answers)
        for pipe in pipes { unlink(pipe) }
        return process.wait()
    }
}
