/// The tags of a document, without its texts.
///
/// The grammar is stricter than that of HTML: attributes are quoted, and the characters of syntax are references in texts
/// and values. So a text that is not escaped makes the document invalid, or changes its tags.
struct MarkupOutline {
    /// A part of a document that is not of the grammar.
    struct Fault: Error {
        let part: String

        init(_ part: some Sequence<UInt8>) {
            self.part = String(decoding: Array(part), as: UTF8.self)
        }
    }

    private static let addressAttributes = ["href=", "src=", "action=", "data-events=", "data-gateway="]
    private static let references = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"]

    /// Each tag with its attributes, but without their values.
    private(set) var tags: [String] = []
    /// The values of attributes that are addresses.
    private(set) var addresses: [String] = []

    init(_ document: String) throws {
        // By octets: as a Character, a quotation mark with an accent would be none.
        let parts = document.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let ends = part.split(separator: UInt8(ascii: ">"), omittingEmptySubsequences: false)
            guard ends.count == (index == 0 ? 1 : 2), let text = ends.last, !text.contains(UInt8(ascii: "\"")) else {
                throw Fault(part)
            }
            try MarkupOutline.checkReferences(text)
            if index > 0 { try add(ends[0]) }
        }
    }

    private mutating func add(_ tag: Substring.UTF8View) throws {
        var outline: [String] = []
        var name = ""
        for (index, part) in tag.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false).enumerated() {
            if index.isMultiple(of: 2) {
                let words = String(Substring(part))
                guard words.wholeMatch(of: #/[a-z0-9\-=\/! ]*/#) != nil else { throw Fault(tag) }
                name = words.split(separator: " ").last.map(String.init) ?? ""
                outline.append(words)
            } else {
                guard name.hasSuffix("="), !part.contains(UInt8(ascii: "'")) else { throw Fault(tag) }
                try MarkupOutline.checkReferences(part)
                if MarkupOutline.addressAttributes.contains(name) { addresses.append(String(Substring(part))) }
            }
        }
        tags.append(outline.joined())
    }

    private static func checkReferences(_ text: Substring.UTF8View) throws {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            rest = rest[start...]
            guard references.contains(where: { rest.starts(with: $0.utf8) }) else { throw Fault(text) }
            rest = rest.dropFirst()
        }
    }
}
