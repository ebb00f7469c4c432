import Foundation

/// The pages of the project, for tests that hold them against the code.
enum Documentation {
    /// The text of a file of the project.
    static func text(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: name), encoding: .utf8)
    }
}
