import Foundation
import TestSupport
import Testing

@Suite("crumb --service")
struct ServiceCommandTests {
    /// The files that the steps name, in a folder that both sides read.
    private static func files() throws -> CrumbHome {
        let folder = CrumbHome()
        try folder.write(
            "HTTP/1.1 200 OK\r\nSet-Cookie: d=1; Path=/; Max-Age=90000\r\nSet-Cookie: e=1; Domain=other.test\r\n\r\n",
            to: "dump")
        try folder.write(Capture.har(cookies: 3, named: "har"), to: "capture.har")
        try folder.write("# Netscape HTTP Cookie File\n.kept.test\tTRUE\t/\tFALSE\t0\tn\t1\n", to: "cookies.txt")
        try folder.write("sid=; Path=/; Secure; Max-Age=0\nfresh=1; Path=/x\nbad=1; Domain=other.test\n", to: "lines")
        try folder.write(Array("octets=".utf8) + [0xFF, 0xFE] + Array("; Path=/\n".utf8), to: "octets")
        try folder.write("", to: "empty")
        try folder.write([UInt8](repeating: 0, count: 100), to: "noise")
        try folder.write("there already", to: "taken")
        try folder.write(
            #"{"cookies":[],"origins":[{"origin":"https://www.example.com","localStorage":[{"name":"k","value":"v&<\u2028"},"#
                + #"{"name":"token","value":"\ud800"}]},{"origin":"https://store.test:8443","localStorage":[{"name":"k","value":""}]}]}"#,
            to: "state.json")
        try folder.write(
            #"{"cookies":[],"origins":[{"origin":"file://","localStorage":[{"name":"k","value":"v"}]}]}"#,
            to: "bad-state.json")
        try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: true)
        return folder
    }

    /// What a run said, without what differs from one moment or place to another.
    private static func said(_ result: RunResult, in places: [String]) -> String {
        let output = String(String.UnicodeScalarView(result.output.map(Unicode.Scalar.init)))
        var text = "status \(result.status)\n\(output)---\n\(result.messages)"
        for place in places { text = text.replacingOccurrences(of: place, with: "PLACE") }
        text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
        // Columns are as wide as the times in them.
        text.replace(/\b\d+ (second|minute)s? ago\b/, with: "AGO")
        text.replace(/[ ]{2,}/, with: "  ")
        // Lifetimes in seconds, and room: two files are never the same to the byte.
        text.replace(/"expiresIn":-?\d+/, with: "\"expiresIn\":N")
        text.replace(/"freedBytes":\d+/, with: "\"freedBytes\":N")
        text.replace(/(?m)^\d+ bytes freed.*\n/, with: "")
        // Times as formats write them.
        text.replace(/\b1[789]\d{8}(\d{3}|\.\d+)?\b/, with: "SECONDS")
        text.replace(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/, with: "DATE")
        // Where tokens lie is no caller's business.
        text.replace(/(?m)^(stored in|sealed under): .*\n/, with: "")
        return text
    }

    /// What a command on a file says, without `crumb browse`: a service has no browser.
    private static func withoutBrowser(_ text: String) -> String {
        text.replacing(/\ with\n *crumb browse .*\n *or in your own browser,/, with: " in your browser,")
            .replacing(/: crumb browse \S+/, with: "")
    }

    @Test("Each command prints the same on a service as on a file", arguments: RunningService.Way.allCases)
    func sameOutput(way: RunningService.Way) throws {
        let service = try RunningService(way)
        let file = CrumbHome()
        #expect(try file.crumb("jars", "create", "made").status == 0)
        #expect(try service.ask(["jars", "create", "made"]).status == 0)
        let folder = try Self.files()
        let places = [file.file("crumb.sqlite"), service.address]
        for step in way == .socket ? ServiceStep.all : ServiceStep.some {
            let words = step.words.map { word in
                FileManager.default.fileExists(atPath: folder.file(word)) && !word.isEmpty ? folder.file(word) : word
            }
            let input = try step.input.map { try folder.write($0, to: "input") } ?? "/dev/null"
            switch step.kind {
            case .prepared:
                for home in [file, service.home] {
                    let result = try home.start(words, input: input).wait()
                    #expect(result.status == 0, "\(step): \(result.messages)")
                }
            case .damaged:
                for home in [file, service.home] {
                    #expect(try home.shell("sqlite3 crumb.sqlite \"\(step.words[0])\"").status == 0)
                }
            case .compared:
                let onFile = try file.start(words, input: input).wait()
                let onService = try service.ask(words, input: input)
                let said = Self.withoutBrowser(Self.said(onFile, in: places))
                #expect(Self.said(onService, in: places) == said, "crumb \(step)")
            }
        }
    }
}
