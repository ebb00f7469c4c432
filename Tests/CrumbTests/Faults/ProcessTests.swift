import Foundation
import Platform
import TestSupport
import Testing

@Suite("Many processes, and some that die")
struct ProcessTests {
    private let home = CrumbHome()

    private func names(_ home: CrumbHome) throws -> [String] {
        try home.crumb("list", "--json").objects().compactMap { $0["name"] as? String }
    }

    @Test("Each process sees the writes of the one before")
    func next() throws {
        for number in 0..<5 {
            try home.receive("n=\(number); Path=/")
            #expect(try home.header() == "Cookie: n=\(number)")
        }
    }

    @Test("Eight processes that import into one new database at once lose nothing")
    func eight() throws {
        let captures = try (0..<8).map { number in
            try home.write(
                Capture.har(
                    (0..<100).map {
                        Capture.entry(
                            "https://h\($0 % 10).example/", ["p\(number)-\($0)=1; Path=/", "all=\(number); Path=/"])
                    }),
                to: "har\(number)")
        }
        let processes = try captures.map { try home.start(["import", $0]) }
        for process in processes {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages)")
            #expect(result.text.contains("200 Set-Cookie lines in 100 responses: "))
        }
        let names = try names(home)
        #expect(names.filter { $0 == "all" }.count == 10)
        #expect(Set(names).count == 801 && names.count == 810)
    }

    @Test(
        "An import that is killed before its end stores nothing, and changes nothing",
        arguments: [1, 30, 300, 3000])
    func killedBeforeItsEnd(entries: Int) throws {
        try home.receive("before=1; Path=/", "changed=1; Path=/")
        let pipe = home.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let process = try home.start(["import", pipe])
        let writer = open(pipe, O_WRONLY)
        defer { close(writer) }
        let changed = Capture.entry("https://www.example.com/", ["changed=2; Path=/", "before=; Max-Age=0; Path=/"])
        let opening = "{\"log\": {\"entries\": [\(changed)"
        let rest = (0..<entries).map { number in
            ",\n" + Capture.entry("https://www.example.com/", ["n\(number)=1; Path=/; Max-Age=1000"])
        }
        let bytes = Array(([opening] + rest).joined().utf8)
        // Longer than a pipe holds, so that it has been read by the time that this is written.
        let padding = [UInt8](repeating: 0x20, count: 1 << 20)
        for part in [bytes, padding] {
            var written = 0
            while written < part.count {
                let count = part[written...].withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
                try #require(count > 0)
                written += count
            }
        }
        process.kill()
        #expect(process.wait().status == -SIGKILL)
        #expect(try home.header() == "Cookie: before=1; changed=1")
        #expect(try names(home) == ["before", "changed"])
    }

    @Test("An import that is killed at any moment is stored whole or not at all")
    func killedAtAnyMoment() throws {
        try home.receive("before=1; Path=/", from: "https://many.example/")
        var stored = 1
        for round in 0..<25 {
            let capture = try home.write(Capture.har(cookies: 150, named: "r", host: "r\(round).example"), to: "har")
            let process = try home.start(["import", capture])
            usleep(UInt32(round) * 3000)
            process.kill()
            _ = process.wait()
            let count = try names(home).count
            #expect(count == stored || count == stored + 150, "round \(round)")
            stored = count
        }
        #expect(try home.header("https://many.example/").hasPrefix("Cookie: before=1"))
        // The next import finds everything in order.
        try home.receive("after=1; Path=/", from: "https://many.example/")
        #expect(try names(home).count == stored + 1)
    }

    @Test("A first use that is killed at any moment leaves nothing that a second one cannot use")
    func killedFirstUse() throws {
        for round in 0..<25 {
            let home = CrumbHome()
            let capture = try home.write(Capture.har(cookies: 1, named: "a"), to: "har")
            let process = try home.start(["import", capture])
            usleep(UInt32(round) * 1000)
            process.kill()
            _ = process.wait()
            let result = try home.crumb("import", capture)
            #expect(result.status == 0, "round \(round): \(result.messages)")
            #expect(try home.header("https://many.example/") == "Cookie: a0=vvvvvvvvvvvvvvvvvvvv")
        }
    }

    @Test("A header does not wait for an import that waits for its input")
    func headerBesideImport() throws {
        try home.receive("a=1; Path=/")
        let aged = try home.shell("sqlite3 crumb.sqlite 'UPDATE cookie SET last_access_at = 0'")
        try #require(aged.status == 0, "sqlite3 is needed: \(aged.messages)")
        let pipe = home.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let process = try home.start(["import", pipe])
        let writer = open(pipe, O_WRONLY)
        let opening = Array(
            "{\"log\": {\"entries\": [\(Capture.entry("https://www.example.com/", ["b=2; Path=/"]))".utf8)
        #expect(write(writer, opening, opening.count) == opening.count)
        #expect(try home.header() == "Cookie: a=1")
        let closing = Array("]}}".utf8)
        #expect(write(writer, closing, closing.count) == closing.count)
        close(writer)
        #expect(process.wait().status == 0)
        #expect(try home.header() == "Cookie: a=1; b=2")
    }
}
