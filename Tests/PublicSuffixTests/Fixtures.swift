import Foundation
import TestSupport

/// The files that `Scripts/update-public-suffixes` writes.
enum Fixtures {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The table in the library.
    static let table = Repository.root.appending(path: "Sources/PublicSuffix/BundledSuffixTable.swift")

    /// The list that the table was made from.
    static func list() throws -> Data {
        try Data(contentsOf: folder.appending(path: "Data/public_suffix_list.dat"))
    }

    /// The vectors of publicsuffix.org.
    static func vectors() throws -> [ConformanceVector] {
        try String(contentsOf: folder.appending(path: "Data/test_psl.txt"), encoding: .utf8)
            .split(separator: "\n").compactMap { line in ConformanceVector(line: String(line)) }
    }
}

/// A line `checkPublicSuffix('host', 'registrable domain')`.
struct ConformanceVector {
    let host: String
    let registrableDomain: String?

    init?(line: String) {
        guard let match = line.wholeMatch(of: /checkPublicSuffix\('(.*?)', (?:null|'(.*?)')\);/) else { return nil }
        host = String(match.1)
        registrableDomain = match.2.map(String.init)
    }
}
