import Foundation
import TestSupport
import Testing

@Suite("crumb changes --follow")
struct FollowedChangesTests {
    /// Waits until a file has so many lines, which the process that writes it is about to write.
    private static func lines(_ count: Int, of path: String) -> [[String: Any]] {
        for _ in 0..<1200 {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n")
            if lines.count >= count {
                return lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            }
            usleep(50_000)
        }
        return []
    }

    private static func names(_ lines: [[String: Any]]) -> [String] { lines.compactMap { $0["name"] as? String } }

    @Test("On a file: the stored changes, then those of other processes, until Control-C")
    func file() throws {
        let home = CrumbHome()
        let output = home.file("followed")
        // Nothing was ever stored: the default jar is waited for.
        let process = try home.start(["changes", "--follow", "--json"], output: output)
        defer { process.kill() }
        try home.receive("a=s3cr3t; Path=/")
        #expect(Self.names(Self.lines(1, of: output)) == ["a"])
        try home.receive("b=1; Path=/", "a=; Max-Age=0; Path=/")
        let lines = Self.lines(3, of: output)
        #expect(Self.names(lines) == ["a", "b", "a"])
        #expect(lines.map { $0["cause"] as? String } == ["stored", "stored", "deleted"])
        process.interrupt()
        let result = process.wait()
        #expect(result.status == -2 && result.messages.isEmpty, "\(result.status) \(result.messages)")
        #expect(try !String(contentsOfFile: output, encoding: .utf8).contains("s3cr3t"))
    }

    @Test("On a service: the same lines, for writes of any process", arguments: RunningService.Way.allCases)
    func service(way: RunningService.Way) throws {
        let service = try RunningService(way)
        let output = service.home.file("followed")
        var variables = service.variables
        variables["CRUMB_SERVICE_TOKEN_FILE"] = way == .network ? service.tokenFile : nil
        let lines = try service.home.write("first=1; Path=/\nsecond=2; Path=/\n", to: "lines")
        #expect(try service.ask(["set", "https://www.example.com/"], input: lines).status == 0)
        let process = try service.home.start(
            ["changes", "--json", "--follow", "--after", "1"], output: output, variables: variables)
        defer {
            process.kill()
            _ = process.wait()
        }
        #expect(Self.names(Self.lines(1, of: output)) == ["second"])
        // By another process, beside the service.
        try service.home.receive("third=3; Path=/")
        #expect(Self.names(Self.lines(2, of: output)) == ["second", "third"])
        let onFile = try service.home.crumb("changes", "--json", "--after", "1")
        #expect(try String(contentsOfFile: output, encoding: .utf8) == onFile.text)
    }

    @Test("For people each change is a line in columns, and a jar that is not there is exit status 34")
    func text() throws {
        let home = CrumbHome()
        try home.receive("a=1; Path=/x")
        let output = home.file("followed")
        let process = try home.start(["changes", "-f"], output: output)
        defer {
            process.kill()
            _ = process.wait()
        }
        _ = Self.lines(2, of: output)
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.hasPrefix("POSITION  TIME ") && text.hasSuffix("  stored    a of www.example.com/x\n"), "\(text)")
        #expect(try home.crumb("changes", "--follow", "--jar", "none").status == 34)
    }
}
