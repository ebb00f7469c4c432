import Foundation
import TestSupport

/// The pages of the project, for tests that hold them against the code.
enum Documentation {
    /// The text of a file of the project.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }
}
