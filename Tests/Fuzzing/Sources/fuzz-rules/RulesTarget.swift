import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// Any bytes as a table of caching rules, and each of its words as the pattern of a rule and the name of a file.
enum RulesTarget {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        for word in text.split(whereSeparator: \.isWhitespace).prefix(8) { PatternCheck.check(String(word)) }
        let path = Octets(Array("/".utf8) + input)
        Invariant.holds(
            !HashedFileName.isHashed(path) || StaticResource.hasExtension(path), "a file with a hash is static")
        let table: CachingRules
        do throws(CachingRulesError) {
            table = try CachingRules(table: text)
        } catch {
            return check(error, of: text)
        }
        check(table, of: text)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    }

    private static func check(_ error: CachingRulesError, of text: String) {
        let lines = lines(text)
        Invariant.holds((1...lines.count).contains(error.line), "an error names a line")
        Invariant.holds(error.description.hasPrefix("line \(error.line): "), "an error has a sentence")
        guard (1...lines.count).contains(error.line), error.reason != .tooManyRules else { return }
        Invariant.holds(
            (try? CachingRules(table: lines[..<(error.line - 1)].joined(separator: "\n"))) != nil,
            "the lines before it are right")
        do throws(CachingRulesError) {
            // After another one: a byte order mark counts nowhere but at the beginning.
            _ = try CachingRules(table: "\n" + lines[error.line - 1])
            Invariant.holds(false, "the line alone is wrong, too")
        } catch {
            Invariant.holds(error.line == 2, "in its only line")
        }
    }

    private static func check(_ table: CachingRules, of text: String) {
        let lines = lines(text)
        Invariant.holds(
            (try? CachingRules(table: lines.joined(separator: "\r\n"))) == table, "lines end in either way")
        for (rule, next) in zip(table.userRules, table.userRules.dropFirst()) {
            Invariant.holds(rule.line < next.line, "rules are in order")
        }
        for rule in table.userRules {
            guard (1...lines.count).contains(rule.line) else {
                return Invariant.holds(false, "a rule has a line")
            }
            let alone = (try? CachingRules(table: lines[rule.line - 1]))?.userRules
            Invariant.holds(
                alone?.count == 1 && alone?.first?.pattern == rule.pattern && alone?.first?.treatment == rule.treatment,
                "a rule is that of its line")
        }
        checkOrder(of: table)
    }

    /// The first rule that matches decides.
    private static func checkOrder(of table: CachingRules) {
        let policy = CachingPolicy(rules: table)
        for url in PatternCheck.urls {
            let target = URLPattern.Target(url)
            let first = table.userRules.first { $0.pattern.matches(target) }
            let rule = policy.lookup(CacheRequest(url: url), among: [], now: .epoch).rule
            Invariant.holds(
                rule.origin == (first.map { AppliedRule.Origin.user(line: $0.line) } ?? .protocol)
                    && rule.treatment == first?.treatment ?? .protocol, "the first rule that matches decides")
            Invariant.holds(
                table.forbidsStoring(CacheRequest(url: url)) == (first?.treatment == .neverStore),
                "and also about storing")
        }
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    RulesTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
