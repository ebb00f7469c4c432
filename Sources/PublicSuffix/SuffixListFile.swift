/// The lines of a list file that mean something.
struct SuffixListFile {
    struct Entry {
        let rule: DomainRule
        let section: PublicSuffixList.Section
        let line: Int
    }

    /// The rules in the order of the file.
    private(set) var entries: [Entry] = []

    /// What follows `VERSION:` in a comment, which lists have since 2023.
    private(set) var version: String?

    private var section: PublicSuffixList.Section?

    init(parsing file: [UInt8]) throws(PublicSuffixListError) {
        var lineNumber = 0
        var rest = file[...]
        if rest.starts(with: Self.byteOrderMark) { rest = rest.dropFirst(Self.byteOrderMark.count) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            lineNumber += 1
            do {
                try read(rest[..<end].drop(while: Self.isWhitespace), number: lineNumber)
            } catch {
                throw PublicSuffixListError(error.code, line: lineNumber)
            }
            rest = rest[end...].dropFirst()
        }
        guard section == nil else { throw PublicSuffixListError(.unbalancedSection, line: lineNumber) }
        guard !entries.isEmpty else { throw PublicSuffixListError(.noRules) }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(PublicSuffixListError) {
        // "Each line is only read up to the first whitespace; entire lines can also be commented using //."
        if line.starts(with: Self.commentMark) {
            try readComment(line.dropFirst(Self.commentMark.count).drop(while: Self.isWhitespace))
            return
        }
        let text = line.prefix { octet in !Self.isWhitespace(octet) }
        guard !text.isEmpty else { return }
        let rule = try DomainRule(parsing: text)
        // The rule `*` is the default that every list has, so it adds nothing.
        guard !rule.labels.isEmpty else { return }
        entries.append(Entry(rule: rule, section: section ?? .private, line: number))
    }

    private mutating func readComment(_ comment: ArraySlice<UInt8>) throws(PublicSuffixListError) {
        if comment.starts(with: Self.versionMark), version == nil {
            let text = comment.dropFirst(Self.versionMark.count).split(whereSeparator: Self.isWhitespace).first ?? []
            version = text.isEmpty ? nil : String(decoding: text.prefix(Self.maximumVersionLength), as: UTF8.self)
        }
        for (named, markers) in Self.sectionMarkers {
            if comment.starts(with: markers.begin) {
                guard section == nil else { throw PublicSuffixListError(.unbalancedSection) }
                section = named
            } else if comment.starts(with: markers.end) {
                guard section == named else { throw PublicSuffixListError(.unbalancedSection) }
                section = nil
            }
        }
    }
}

extension SuffixListFile {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let commentMark = Array("//".utf8)
    private static let versionMark = Array("VERSION:".utf8)
    private static let maximumVersionLength = 64
    private static let sectionMarkers: [(PublicSuffixList.Section, (begin: [UInt8], end: [UInt8]))] = [
        (.icann, (Array("===BEGIN ICANN DOMAINS===".utf8), Array("===END ICANN DOMAINS===".utf8))),
        (.private, (Array("===BEGIN PRIVATE DOMAINS===".utf8), Array("===END PRIVATE DOMAINS===".utf8))),
    ]

    private static func isWhitespace(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: " "), 0x09...0x0D: true
        default: false
        }
    }
}
