import FuzzSupport

@testable import PublicSuffix

/// Any bytes as a public suffix list, and the names of its rules as hosts.
enum ListTarget {
    private static let newline = UInt8(ascii: "\n")
    private static let dot = UInt8(ascii: ".")
    /// How many hosts of one input are looked up: enough for what a list can say of itself.
    private static let hostLimit = 24

    static func check(_ input: [UInt8]) {
        let hosts = hosts(in: input)
        for host in hosts { LookupCheck.answers(of: .bundled, for: host) }
        PunycodeCheck.roundTrip(input)
        do {
            let list = try PublicSuffixList(parsing: input)
            checkList(list, from: input, hosts)
        } catch {
            let lineCount = input.split(separator: newline, omittingEmptySubsequences: false).count
            Invariant.holds(
                error.line.map { (1...lineCount).contains($0) } ?? (error.code == .noRules), "an error names its line")
            Invariant.holds(!error.description.isEmpty, "an error has a sentence")
        }
    }

    private static func checkList(_ list: PublicSuffixList, from input: [UInt8], _ hosts: [[UInt8]]) {
        Invariant.holds(
            list.ruleCount > 0 && list.version.utf8.count <= 3 * 64, "a list has rules and a short version")
        // All of these say the same in the same order.
        let withReturns = input.split(separator: newline, omittingEmptySubsequences: false).joined(separator: [
            0x0D, newline,
        ])
        for file in [input, Array(withReturns), twice(input)] {
            guard let other = try? PublicSuffixList(parsing: file) else {
                Invariant.holds(false, "a list that says the same can be read")
                return
            }
            Invariant.holds(
                other.ruleCount == list.ruleCount && other.version == list.version
                    && other.table.slots == list.table.slots && other.table.labels == list.table.labels,
                "lists that say the same are compiled to the same")
        }
        guard let literal = try? LiteralList(parsing: input) else { return }
        for host in hosts {
            LookupCheck.answers(of: list, for: host)
            let length = list.publicSuffixLength(of: host.span)
            Invariant.holds(length == literal.publicSuffixLength(of: host), "the table answers as the rules do")
        }
    }

    /// Every rule a second time, which changes nothing: the first one counts.
    private static func twice(_ input: [UInt8]) -> [UInt8] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return input + [newline] + (input.starts(with: byteOrderMark) ? input.dropFirst(3) : input[...])
    }

    /// The lines as hosts, without what makes them rules, and hosts below and above them.
    private static func hosts(in input: [UInt8]) -> [[UInt8]] {
        var hosts: [[UInt8]] = [[]]
        for line in input.split(separator: newline).prefix(hostLimit / 4) {
            let rule = line.prefix { $0 != 0x20 && !(0x09...0x0D).contains($0) }
            let name = Array(rule.drop { "!*.".utf8.contains($0) })
            hosts += [Array(rule), name, Array("a.".utf8) + name, Array("a.b.".utf8) + name]
            if let first = name.firstIndex(of: dot) { hosts.append(Array(name[(first + 1)...])) }
        }
        return hosts
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ListTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
