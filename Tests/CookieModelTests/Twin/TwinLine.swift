import CookieModel
import TestSupport

/// Random Set-Cookie lines, good and bad.
struct TwinLine {
    private static let names = ["a", "a", "a", "b", "A", "", "é", "a b", "\"a\""]
    private static let prefixes = [
        "__Secure-", "__Host-", "__Http-", "__Host-Http-", "__secure-", "__HOST-", "__hOsT-hTtP-", "__SECURE", "_Host-",
        "__Host-Secure-", "__host-http", "__Secure-Host-",
    ]
    private static let values = [
        "", "1", "2", "é", "a=b", "=", "\"q\"", "1,2", "a\tb", "%3B", "__Host-1", "__secure-x=1",
    ]
    private static let white = ["", "", "", "", " ", "\t", "  "]
    private static let dates = [
        "Sat, 21 Nov 2026 00:00:00 GMT", "Sat, 21 Nov 2026 00:01:00 GMT", "Fri, 20-Nov-26 23:59:59 GMT", "0", "",
        "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 01 Jan 2031 00:00:00 GMT", "31 Feb 2027 1:1:1", "29 feb 2028 1:1:1",
        "Fri 31 Dec 9999 23:59:59", "1 Jan 1601 0:0:0", "1 Jan 1600 0:0:0", "21 nov 26 24:0:0",
        "21nov 27 jan 00:00:09x",
        "12:00:00 12:00:01 1 dec 2026", "Nov 21 2026x 00:00:30", "00000 21 Nov 2026 3:4:5", "1 Jan 69 1:1:1",
        "1 Jan 70 1:1:1", "1 Jan 099 1:1:1", "Sun, 26 Dec 2027 00:00:00 GMT", "Sun, 26 Dec 2027 00:00:01 GMT",
    ]
    private static let ages = [
        "0", "1", "60", "-1", "-0", "+1", "", "1.5", "1e3", "34560000", "34560001", "99999999999999999999999", "007",
        "-",
        "--1", "-99999999999999999999", "60 ", "0x10",
    ]
    private static let paths = ["/", "/a", "/a/", "/a/b", "", "a", "/é", "/A", "/a b", "\"/a\"", "/a=b"]
    private static let sites = ["Lax", "Strict", "None", "none", "STRICT", "lAx", "", "Default", "Laxx", "None "]

    private static let tame = [
        "Secure", "Secure", "HttpOnly", "Path=/", "Path=/a", "Path=/a/b", "Max-Age=60", "Max-Age=0", "SameSite=Lax",
        "SameSite=Strict", "Secure;SameSite=None", "Secure;Partitioned", "Expires=Sun, 26 Dec 2027 00:00:00 GMT",
    ]

    private let hosts: [String]
    private let isTame: Bool
    /// A line or two come again.
    private var earlier: [Octets] = []

    init(hosts: [String], isTame: Bool) {
        self.hosts = hosts
        self.isTame = isTame
    }

    mutating func next(_ random: inout SeededGenerator) -> Octets {
        if !earlier.isEmpty, random.once(in: 6) { return random.pick(earlier) }
        if isTame, !random.once(in: 6) { return tameLine(&random) }
        var text = random.pick(TwinLine.white) + name(&random) + random.pick(TwinLine.white)
        if !random.once(in: 8) { text += "=" }
        text += random.pick(TwinLine.white) + random.pick(TwinLine.values) + random.pick(TwinLine.white)
        if random.once(in: 40) { text += String(repeating: "x", count: 4090 + random.below(10)) }
        for _ in 0..<random.below(5) { text += ";" + attribute(&random) }
        var bytes = Array(text.utf8)
        if random.once(in: 20), !bytes.isEmpty {
            let position = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes.remove(at: position)
            case 1: bytes[position] = UInt8(random.below(256))
            case 2: bytes.insert(UInt8(random.below(33)), at: position)
            default: bytes.insert(random.pick([0x3B, 0x3D, 0x7F, 0x80, 0xFF, 0x2E]), at: position)
            }
        }
        let line = Octets(bytes)
        earlier.append(line)
        return line
    }

    private func tameLine(_ random: inout SeededGenerator) -> Octets {
        var text = "\(random.pick(["a", "a", "b", ""]))=\(random.below(100))"
        for _ in 0..<random.below(4) { text += "; " + random.pick(TwinLine.tame) }
        if random.once(in: 3) { text += "; Domain=" + hosts[0] }
        return Octets(text)
    }

    private func name(_ random: inout SeededGenerator) -> String {
        random.once(in: 5) ? random.pick(TwinLine.prefixes) + random.pick(TwinLine.names) : random.pick(TwinLine.names)
    }

    private func attribute(_ random: inout SeededGenerator) -> String {
        var (name, value): (String, String?) =
            switch random.below(20) {
            case 0...3: ("Secure", random.once(in: 8) ? "no" : nil)
            case 4, 5: ("HttpOnly", random.once(in: 8) ? "no" : nil)
            case 6...8: ("Domain", domain(&random))
            case 9...11: ("Path", random.pick(TwinLine.paths))
            case 12, 13: ("Max-Age", random.pick(TwinLine.ages))
            case 14, 15: ("Expires", random.pick(TwinLine.dates))
            case 16, 17: ("SameSite", random.pick(TwinLine.sites))
            case 18: ("Partitioned", nil)
            default: (random.pick(["", "Version", "Priority", "Secur", "Securee", "Max Age", "Comment"]), "High")
            }
        if random.once(in: 4) { name = random.once(in: 2) ? name.uppercased() : name.lowercased() }
        if random.once(in: 60) { value = (value ?? "") + String(repeating: "x", count: 1015 + random.below(12)) }
        if random.once(in: 60) { name = "Path"; value = "/" + String(repeating: "x", count: 1022 + random.below(3)) }
        let equals = value.map { "\(random.pick(TwinLine.white))=\(random.pick(TwinLine.white))\($0)" } ?? ""
        return random.pick(TwinLine.white) + name + equals + random.pick(TwinLine.white)
    }

    private func domain(_ random: inout SeededGenerator) -> String {
        if random.once(in: 8) {
            return random.pick(["", ".", "..", "com", "1", "127.1", "e", "[::1]", "example.com.."])
        }
        let host = random.pick(hosts)
        return switch random.below(8) {
        case 0: "." + host
        case 1: ".." + host
        case 2: host + "."
        case 3: host.uppercased()
        case 4: String(host.dropFirst(1 + random.below(4)))
        default: host
        }
    }
}
