import Glibc

/// The conversation between a driver and the comparison that started it.
///
/// A driver gets ready once and then does one repetition for each `run` on its standard input, so that the comparison
/// can take turns between peers. `headers FILE` writes the headers it gives. Every answer is one line of JSON.
public struct Driver {
    private let peer: String
    private let version: String

    /// A driver for the peer of that name.
    public init(peer: String, version: String) {
        self.peer = peer
        self.version = version
    }

    /// Serves `subject` until the standard input ends.
    public func serve(_ subject: any BenchmarkSubject.Type, _ workload: Workload) throws {
        var ready: any BenchmarkSubject
        do {
            ready = try subject.init(workload)
        } catch DriverError.skipped(let reason) {
            answer("{\"peer\":\"\(peer)\",\"version\":\"\(version)\",\"skipped\":\"\(reason)\"}")
            return
        }
        answer("{\"peer\":\"\(peer)\",\"version\":\"\(version)\"}")
        while let command = readLine() {
            if command == "run" {
                answer(try ready.run().line)
            } else if command.hasPrefix("headers ") {
                let headers = try ready.headers() ?? []
                try save(headers, to: String(command.dropFirst("headers ".utf8.count)))
                answer("{\"headers\":\(headers.count)}")
            } else {
                throw DriverError.usage("unknown command '\(command)'")
            }
        }
    }

    private func answer(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func save(_ headers: [[UInt8]], to path: String) throws {
        guard let file = fopen(path, "w") else { throw DriverError.unreadable(path) }
        defer { fclose(file) }
        for header in headers {
            fwrite(header, 1, header.count, file)
            putc(0x0A, file)
        }
    }
}

extension Driver {
    /// Runs a program's `body`; an error goes to standard error and ends the program with status 1.
    public static func main(_ program: String, _ body: ([String]) throws -> Void) {
        do {
            try body(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let message = "\(program): \(error)\n"
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            exit(1)
        }
    }
}
