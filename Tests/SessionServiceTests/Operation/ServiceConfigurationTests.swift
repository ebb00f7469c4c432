import Foundation
import Testing

@testable import SessionService

@Suite("The configuration of the service")
struct ServiceConfigurationTests {
    private let folder = TemporaryFolder()

    private func file(_ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: folder.file("c.json")))
        return folder.file("c.json")
    }

    @Test("Settings of the command line override the environment, which overrides the file")
    func precedence() throws {
        let file = try file(
            """
            {"socket": "/f", "listen": ["127.0.0.1:1"], "hosts": ["f"], "limits": {"idleSeconds": 11, "connections": 12}}
            """)
        let environment = [
            "CRUMB_SOCKET": "/e", "CRUMB_LIMITS_IDLE_SECONDS": "21", "CRUMB_HOSTS": "e,e2", "SOCKET": "/x",
        ]
        let configuration = try ServiceConfiguration(
            arguments: ["socket": ["/a"]], environment: environment, file: file)
        #expect(configuration.socket == "/a")
        #expect(configuration.hosts == ["e", "e2"])
        #expect(configuration.limits.idleSeconds == 21 && configuration.limits.connections == 12)
        #expect(configuration.addresses.map(\.description) == ["127.0.0.1:1"])
        #expect(configuration.limits.headerSeconds == ServiceLimits().headerSeconds)
    }

    @Test(
        "An invalid setting is an error that names it",
        arguments: [
            (#"{"sokcet": "/f"}"#, "'sokcet'"), (#"{"limits": {"idle": 1}}"#, "'limits.idle'"),
            (#"{"limits": 3}"#, "'limits'"), (#"{"socket": 3}"#, "'socket'"), (#"{"hosts": "a"}"#, "'hosts'"),
            (#"{"limits": {"idleSeconds": "75"}}"#, "'limits.idleSeconds'"),
            (#"{"limits": {"idleSeconds": true}}"#, "'limits.idleSeconds'"),
            (#"{"limits": {"idleSeconds": 7.5}}"#, "'limits.idleSeconds' should be a whole number from 1 to 86400"),
            (#"{"limits": {"idleSeconds": 1e99}}"#, "'limits.idleSeconds'"),
            (#"{"socket": null}"#, "'socket'"), (#"{"hosts": ["a", 1]}"#, "'hosts'"),
            (#"{"limits": {"idleSeconds": 0}}"#, "limits.idleSeconds"), (#"{"listen": ["x"]}"#, "'x'"),
            (#"{"journal": {"entries": 99}}"#, "journal.entries"),
            (#"{"log": {"level": "loud"}}"#, "'loud'"), (#"{"metrics": {"isPublic": 1}}"#, "'metrics.isPublic'"),
            ("[]", "not a JSON object"), ("{", "the JSON ends too early"),
            (#"{"socket":"/a","socket":"/b"}"#, "socket: this member occurs twice"),
            (#"{"limits":{"idleSeconds":1,"idle\u0053econds":2}}"#, "limits.idleSeconds: this member occurs twice"),
            (#"{"limits.idleSeconds":30,"limits":{"idleSeconds":40}}"#, "c.json: 'limits.idleSeconds' is set twice"),
            (#"{"limits":{"idleSeconds":40},"limits.idleSeconds":40}"#, "c.json: 'limits.idleSeconds' is set twice"),
            (#"{"socket":"/a",}"#, "line 1, column 16: this is not JSON"),
            ("\u{FEFF}{}", "byte order mark"),
            (#"{"database": "/a\u0000b"}"#, "'database' contains U+0000"),
            (#"{"hosts": ["a", "b\u0000"]}"#, "'hosts' contains U+0000"),
        ])
    func refused(text: String, named: String) throws {
        let file = try file(text)
        let error = #expect(throws: ServiceStartError.self) { try ServiceConfiguration(file: file) }
        #expect(error?.description.contains(named) == true, "\(String(describing: error))")
    }

    @Test("A file of the largest size is read to its end; a larger one is an error that names the limit")
    func size() throws {
        let text = #"{"socket": "/f"}"#
        let largest = text + String(repeating: " ", count: (256 << 10) - text.utf8.count)
        #expect(try ServiceConfiguration(file: file(largest)).socket == "/f")
        let error = try #require(throws: ServiceStartError.self) {
            try ServiceConfiguration(file: file(largest + "x"))
        }
        #expect(error.description.contains("larger than 262144 bytes"))
    }

    @Test("An invalid variable of the environment is an error that names it")
    func environment() throws {
        #expect(throws: ServiceStartError.self) {
            try ServiceConfiguration(environment: ["CRUMB_LIMITS_IDLE_SECONDS": "long"])
        }
        #expect(throws: ServiceStartError.self) { try ServiceConfiguration(environment: ["CRUMB_LISTEN": "nowhere"]) }
        #expect(throws: ServiceStartError.self) {
            try ServiceConfiguration(environment: ["CRUMB_METRICS_IS_PUBLIC": "perhaps"])
        }
        #expect(throws: ServiceStartError.self) { try ServiceConfiguration(file: folder.file("none.json")) }
    }

    @Test("docs/serving.md lists every setting, with its variable, and no other")
    func documented() throws {
        let documentation = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../docs/serving.md"), encoding: .utf8)
        let rows = documentation.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains("`CRUMB_") }
        let listed = rows.map { $0.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element) }
        #expect(
            Set(listed.map { "\($0[0]) \($0[1])" }) == Set(ServiceSetting.all.map { "\($0.key) \($0.variable)" }))
    }

    @Test(
        "Addresses to listen on are parsed as in the table",
        arguments: [
            ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80"), (":80", "127.0.0.1:80"),
            ("host:0", "host:0"), ("::1:80", nil), ("80", nil), ("host:", nil), ("host:65536", nil), ("host:-1", nil),
        ])
    func addresses(text: String, address: String?) {
        #expect(TCPAddress(text)?.description == address)
    }
}
