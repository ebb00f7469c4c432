import CookieModel
import Testing

@testable import Captures

@Suite("Obstacles of formats")
struct ObstacleTests {
    private static let all = ExportFormat.allCases
    private static let inLines: [ExportFormat] = [.har, .setCookie]
    private static let parsed: [ExportFormat] = inLines + [.storageState, .httpieSession, .webDriver]

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let record: CookieRecord
        let obstacle: ExportObstacle
        /// The formats that cannot hold it.
        let formats: [ExportFormat]

        init(
            _ description: String, _ obstacle: ExportObstacle, _ formats: [ExportFormat],
            _ change: (inout CookieRecord) -> Void
        ) {
            testDescription = description
            record = CookieRecord.sample(change)
            self.obstacle = obstacle
            self.formats = formats
        }
    }

    private static let rows = [
        Row("no name", .nameless, [.netscape, .httpieSession, .webDriver]) { $0.name = "" },
        Row("a tab in the value", .octets, [.netscape, .storageState, .webDriver]) { $0.value = "a\tb" },
        Row("a tab in the name", .octets, [.netscape, .storageState, .webDriver]) { $0.name = "a\tb" },
        Row("a tab in the path", .octets, [.netscape, .storageState, .webDriver]) { $0.path = "/a\tb" },
        Row("a line feed", .octets, [.netscape, .header, .curl] + parsed) { $0.value = "a\nb" },
        Row("a carriage return at the end", .octets, [.netscape, .header, .curl] + parsed) { $0.value = "a\r" },
        Row("another control character", .octets, [.header, .curl] + parsed) { $0.value = "a\u{01}b" },
        Row("a semicolon in the value", .octets, [.header, .curl] + parsed) { $0.value = "a;b" },
        Row("a semicolon in the path", .octets, parsed) { $0.path = "/a;b" },
        Row("an equals sign in the name", .octets, [.header, .curl] + parsed) { $0.name = "a=b" },
        Row("a space in front of the value", .octets, parsed) { $0.value = " a" },
        Row("a tab at the end of the name", .octets, [.netscape] + parsed) { $0.name = "a\t" },
        Row("a value that is not UTF-8", .notText, [.har, .storageState, .webDriver]) { $0.value = [0xE9] },
        Row("a path that is not UTF-8", .notText, [.har, .storageState, .webDriver]) { $0.path = [0x2F, 0xE9] },
        Row("4097 octets", .tooLong, parsed) { $0.value = Octets([UInt8](repeating: 0x61, count: 4096)) },
        Row("a path of 1025 octets", .tooLong, parsed) {
            $0.path = Octets([UInt8](repeating: ASCII.slash, count: 1025))
        },
        Row("a domain that is none", .scope, all.filter { $0 != .json }) { $0.domain = "a b" },
        Row("a domain with a line feed", .scope, all.filter { $0 != .json }) { $0.domain = "a\nb" },
        Row("a path without a slash", .scope, all.filter { $0 != .json }) { $0.path = "a" },
        Row("another site's partition", .partition, all.filter { $0 != .json && $0 != .storageState }) {
            $0.partitionKey = PartitionKey(topLevelSite: "https://other.test", hasCrossSiteAncestor: false)
        },
        Row("another site between", .partition, all.filter { $0 != .json && $0 != .storageState }) {
            $0.partitionKey = PartitionKey(topLevelSite: "https://a.test", hasCrossSiteAncestor: true)
        },
        Row("the partition of an insecure page", .partition, all.filter { $0 != .json && $0 != .storageState }) {
            $0.partitionKey = PartitionKey(topLevelSite: "http://a.test", hasCrossSiteAncestor: false)
        },
    ]

    @Test("A page of this machine has its own partition, even without encryption")
    func loopbackPartition() {
        let record = CookieRecord.sample { record in
            record.domain = "127.0.0.1"
            record.isSecure = true
            record.partitionKey = PartitionKey(topLevelSite: "http://127.0.0.1", hasCrossSiteAncestor: false)
        }
        for format in ExportFormat.allCases {
            #expect(Written([record], as: format, host: "127.0.0.1").obstacles == [nil], "\(format)")
        }
    }

    @Test("A cookie that a format would turn into another one is left out, and the others are written", arguments: rows)
    func obstacle(row: Row) {
        for format in ExportFormat.allCases {
            let written = Written([row.record, .plain], as: format, host: "a.test")
            let expected: ExportObstacle? = row.formats.contains(format) ? row.obstacle : nil
            #expect(written.obstacles == [expected, nil], "\(format)")
            guard expected != nil else { continue }
            #expect(written.bytes == Written([.plain], as: format, host: "a.test").bytes, "\(format)")
        }
    }

    @Test("A partition of the page's own site is not an obstacle, whichever host of it the cookie belongs to")
    func ownPartition() {
        let record = CookieRecord.sample { record in
            record.domain = "www.a.test"
            record.isSecure = true
            record.partitionKey = PartitionKey(topLevelSite: "https://a.test", hasCrossSiteAncestor: false)
        }
        for format in ExportFormat.allCases {
            #expect(Written([record], as: format, host: "www.a.test").obstacles == [nil], "\(format)")
        }
    }

    @Test(
        "A format for one host leaves out cookies that a page of that host cannot have set",
        arguments: [
            ("a.test", true, "a.test", true), ("a.test", true, "www.a.test", false),
            ("a.test", false, "www.a.test", true), ("www.a.test", false, "a.test", false),
            ("b.test", false, "a.test", false),
        ])
    func otherHost(domain: String, isHostOnly: Bool, host: String, isHeld: Bool) {
        let record = CookieRecord(name: "n", value: "v", domain: domain, isHostOnly: isHostOnly)
        for format in ExportFormat.allCases {
            let isForHost = format.scope == .oneHost
            let expected: ExportObstacle? = isHeld || !isForHost ? nil : .otherHost
            #expect(Written([record], as: format, host: host).obstacles == [expected], "\(format)")
        }
    }
}
