import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// What holds of any field value as a list, a structured field, and the fields that consist of these.
enum ListCheck {
    static func check(_ text: Octets) {
        checkMembers(text)
        checkStructured(text)
        checkVariation(text)
        checkVary(text)
    }

    private static func checkMembers(_ text: Octets) {
        let members = FieldList.members([text])
        Invariant.holds(
            FieldList.members([FieldList.joined(members)]) == members, "members that are written are read again")
        Invariant.holds(
            members.allSatisfy { !$0.isEmpty && Array($0) == $0.trimmed },
            "a member has octets, and no blank around them")
        let normalized = FieldList.normalized([text])
        Invariant.holds(FieldList.normalized([normalized]) == normalized, "a normalized value stays as it is")
        Invariant.holds(FieldList.members([normalized]) == members, "a normalized value has the same members")
        Invariant.holds(FieldList.unquoted(quoted(text)) == text, "a quoted string stands for its octets")
        if let content = FieldList.unquoted(text) {
            Invariant.holds(FieldList.unquoted(quoted(content)) == content, "and does so if it was read before")
        }
    }

    /// The octets as a quoted string.
    private static func quoted(_ text: Octets) -> Octets {
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        let escaped = text.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] }
        return Octets([quote] + escaped + [quote])
    }

    private static func checkStructured(_ text: Octets) {
        let strings = StructuredField.strings([text])
        Invariant.holds(strings.count <= StructuredField.memberLimit, "a list has a limit")
        Invariant.holds(
            StructuredField.strings(strings.map(quoted)) == strings, "strings that are written are read again")
        Invariant.holds(StructuredField.strings([FieldList.joined(strings.map(quoted))]) == strings, "also on one line")
        if let dictionary = StructuredField.dictionary([text]) {
            Invariant.holds(
                dictionary.keys.allSatisfy { key in !key.isEmpty && key.allSatisfy { $0 == $0.lowercased } },
                "a key is in lower case")
            // A key without a value is Boolean and true.
            let again = StructuredField.dictionary(text.isEmpty ? [] : [text, "zz"])
            Invariant.holds(again?["zz"] == (text.isEmpty ? nil : .item(.boolean(true))), "a line adds its members")
        }
    }

    private static let urls: [RequestURL] = [
        "https://a.example/", "https://a.example/?", "https://a.example/?a=1", "https://a.example/?a=1&b=2",
        "https://a.example/?b=2&a=1", "https://a.example/?a=2&b=2&a=1", "https://a.example/?%61=1&b=+%20",
        "https://a.example/?a&b&&c=%ff", "https://b.example/?a=1", "https://a.example/x?a=1", "http://a.example/?a=1",
    ].compactMap { try? RequestURL($0 as String) }

    private static func checkVariation(_ text: Octets) {
        let variation = URLVariation(["No-Vary-Search": text])
        func areEquivalent(_ left: Int, _ right: Int) -> Bool {
            var target = URLVariation.Target(urls[left])
            return variation.areEquivalent(&target, urls[right])
        }
        for left in urls.indices {
            Invariant.holds(areEquivalent(left, left), "a URL is equivalent to itself")
            for right in urls.indices where areEquivalent(left, right) {
                Invariant.holds(areEquivalent(right, left), "equivalence is mutual")
                Invariant.holds(
                    urls[left].isSameOrigin(as: urls[right]) && urls[left].path == urls[right].path,
                    "only the query varies")
                Invariant.holds(
                    urls[left] == urls[right] || variation != .none, "without a variation, only the same URL answers")
            }
        }
    }

    private static func checkVary(_ text: Octets) {
        guard let url = urls.first else { return }
        let request = CacheRequest(url: url, fields: ["Accept-Language": text, "Cookie": "a=1", "X": text])
        let names = FieldList.members([text])
        let nominated = NominatedFields(request, for: ["Vary": text])
        Invariant.holds(
            (nominated == nil) == (names.contains("*") || names.count > FieldList.memberLimit),
            "only a star, or too many names, match nothing")
        guard let nominated else { return }
        Invariant.holds(
            Set(nominated.values.keys) == Set(names.map(\.lowercased)), "each name counts, whatever its case")
        var presented = PresentedFields(request.fields)
        Invariant.holds(nominated.match(&presented), "a request matches itself")
        var other = PresentedFields(["Accept-Language": text, "Cookie": "a=2", "X": text])
        Invariant.holds(
            nominated.match(&other) == !names.contains { $0.lowercased == "cookie" },
            "another cookie counts if it is named")
    }
}
