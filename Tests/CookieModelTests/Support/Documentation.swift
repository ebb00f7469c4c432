import Foundation
import TestSupport

/// The pages of the project, for tests that hold them against the code.
enum Documentation {
    /// The text of a file of the project.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }

    /// The cells of a table's row; `nil` for any other line and for the rule below a head.
    static func cells(_ line: Substring) -> [String]? {
        guard line.hasPrefix("| "), line.hasSuffix("|"), !line.hasPrefix("| ---") else { return nil }
        return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
