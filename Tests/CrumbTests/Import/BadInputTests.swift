import Foundation
import TestSupport
import Testing

@Suite("Bad captures")
struct BadInputTests {
    private let home = CrumbHome()
    private static let good = Capture.entry("https://www.example.com/", ["good=1; Path=/"])
    private static let later = Capture.entry("https://www.example.com/", ["later=2; Path=/"])

    struct Bad: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let status: Int32
        /// What is stored of it.
        var header = ""

        init(_ description: String, _ text: String, status: Int32, header: String = "") {
            self.init(description, Array(text.utf8), status: status, header: header)
        }

        init(_ description: String, _ bytes: [UInt8], status: Int32, header: String = "") {
            testDescription = description
            self.bytes = bytes
            self.status = status
            self.header = header
        }
    }

    private static let har = Capture.har([good, later])
    private static let long = String(repeating: "x", count: 10_000_000)

    private static let inputs = [
        Bad("an empty file", "", status: 10),
        Bad("white space", "\r\n \n", status: 10),
        Bad("zeros", [UInt8](repeating: 0, count: 5000), status: 11),
        Bad("a picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13], status: 11),
        Bad("a program", [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0, 0, 0], status: 11),
        Bad("a text", "Dear diary,\ntoday I logged in.\n", status: 11),
        Bad("JSON that is no HAR", #"{"items": [{"name": "a", "value": "b"}]}"#, status: 11),
        Bad("a HAR cut off within its second entry", String(har.prefix(har.count - 60)), status: 12, header: "good=1"),
        Bad("a HAR cut off between entries", "{\"log\": {\"entries\": [\(good),", status: 12, header: "good=1"),
        Bad("a HAR without its last bracket", String(har.dropLast(2)), status: 12, header: "good=1; later=2"),
        Bad("a HAR cut off at once", "{\"log\": {\"entries\": [", status: 12),
        Bad(
            "a HAR with an entry that is no object", Capture.har([good, "17", later]), status: 13,
            header: "good=1; later=2"),
        Bad(
            "a HAR with a response that is none",
            Capture.har([good, #"{"request": {"url": "https://www.example.com/"}, "response": 17}"#, later]),
            status: 13,
            header: "good=1; later=2"),
        Bad(
            "a HAR with an entry without a URL",
            Capture.har([
                good,
                #"{"request": {}, "response": {"status": 200, "headers": [{"name": "set-cookie", "value": "x=1"}]}}"#,
                later,
            ]),
            status: 13, header: "good=1; later=2"),
        Bad(
            "a HAR with headers that are none",
            Capture.har([
                good,
                #"{"request": {"url": "https://www.example.com/"}, "response": {"status": 200, "headers": "set-cookie"}}"#,
                later,
            ]),
            status: 13, header: "good=1; later=2"),
        Bad(
            "a HAR with a URL that is none",
            Capture.har([good, Capture.entry("https://exa mple/", ["x=1"]), later]), status: 19,
            header: "good=1; later=2"),
        Bad("a HAR with broken JSON", "{\"log\": {\"entries\": [\(good), {]}}", status: 13, header: "good=1"),
        Bad(
            "a HAR with a header of 10 MB",
            Capture.har([good, Capture.entry("https://www.example.com/", ["long=\(long)", "same=3; Path=/"]), later]),
            status: 14, header: "good=1; same=3; later=2"),
        Bad(
            "a dump with a header line of 10 MB", Capture.dump(["good=1; Path=/", "long=\(long)", "later=2; Path=/"]),
            status: 14, header: "good=1; later=2"),
        Bad(
            "a dump whose headers do not end", "HTTP/1.1 200 OK\r\nSet-Cookie: good=1; Path=/\r\nSet-Cookie: la",
            status: 12, header: "good=1"),
        Bad(
            "a cookie file with a line of 10 MB",
            "# Netscape HTTP Cookie File\nwww.example.com\tFALSE\t/\tFALSE\t0\tgood\t1\n"
                + "www.example.com\tFALSE\t/\tFALSE\t0\tlong\t\(long)\nwww.example.com\tFALSE\t/\tFALSE\t0\tlater\t2\n",
            status: 14, header: "good=1; later=2"),
        Bad(
            "a cookie file with a broken line",
            "# Netscape HTTP Cookie File\nwww.example.com\tFALSE\t/\tFALSE\t0\tgood\t1\nbroken\tline\n"
                + "www.example.com\tFALSE\t/\tFALSE\t0\tlater\t2\n", status: 13, header: "good=1; later=2"),
    ]

    @Test("Are each a clear error with a status of its own; their valid parts are stored", arguments: inputs)
    func bad(input: Bad) throws {
        try home.receive("before=0; Path=/")
        let path = try home.write(input.bytes, to: "the capture")
        let result = try home.crumb("import", "--url", "https://www.example.com/", path)
        #expect(result.status == input.status, "\(result.messages.prefix(500))")
        #expect(result.messages.hasPrefix("crumb: \(path)"))
        #expect(result.messages.utf8.count - path.utf8.count < 565 && result.messages.hasSuffix("\n"))
        #expect(!result.messages.contains("good=") && !result.messages.contains("xxxx"))
        #expect(try home.header() == "Cookie: before=0" + (input.header.isEmpty ? "" : "; \(input.header)"))
    }

    @Test("The code in JSON is the one of the exit status", arguments: inputs)
    func json(input: Bad) throws {
        let path = try home.write(input.bytes, to: "the capture")
        let result = try home.crumb("import", "--json", "--url", "https://www.example.com/", path)
        #expect(result.status == input.status)
        let failures = try #require(try result.objects().first?["failures"] as? [[String: Any]])
        #expect(failures.count == 1)
        #expect(failures.first?["source"] as? String == path)
        #expect(result.messages.contains(failures.first?["message"] as? String ?? "nothing"))
    }

    @Test("A folder, a file that is not there and a URL that is missing or wrong have statuses of their own")
    func places() throws {
        let folder = try home.crumb("import", home.path)
        #expect(folder.status == 15 && folder.messages.hasPrefix("crumb: \(home.path): "))
        let missing = try home.crumb("import", home.file("missing"))
        #expect(missing.status == 17 && missing.messages.hasPrefix("crumb: \(home.file("missing")): "))
        let dump = try home.write(Capture.dump(["a=1"]), to: "dump")
        let unknown = try home.crumb("import", dump)
        #expect(unknown.status == 18 && unknown.messages.contains("--url") && unknown.messages.contains(dump))
        for url in ["www.example.com", "ftp://example.com/", "https://", "https://a b/", ""] {
            #expect(try home.crumb("import", "--url", url, dump).status == 19, "\(url)")
        }
        #expect(try home.header() == "")
    }

    @Test(
        "An unreadable file is an error with its own code",
        .enabled(if: Machine.unprivileged != nil, "root cannot become another user here"))
    func permission() throws {
        let prefix = try #require(Machine.unprivileged)
        let home = CrumbHome(mode: 0o777)
        let path = try home.write(BadInputTests.har, to: "capture.har", mode: 0o000)
        let result = try home.crumb("import", path, prefix: prefix)
        #expect(result.status == 16)
        #expect(result.messages.hasPrefix("crumb: \(path): ") && result.messages.contains("permission"))
    }

    @Test("A capture of many small entries and one of many failures are read to their ends")
    func many() throws {
        let entries = (0..<2000).map { $0 % 2 == 0 ? BadInputTests.good : "\($0)" }
        let path = try home.write(Capture.har(entries), to: "har")
        let result = try home.crumb("import", path)
        #expect(result.status == 13)
        // The first ten, and a line with the count of the others.
        let lines = result.messages.split(separator: "\n")
        #expect(lines.count == 11 && lines.last?.contains("990") == true, "\(result.messages)")
        #expect(result.text.contains("1000 Set-Cookie lines in 1000 responses: 1 taken, 999 replaced"))
    }
}
