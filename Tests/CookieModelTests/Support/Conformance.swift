import Foundation
import TestSupport

/// Vectors that other people wrote, in the folder `shared/conformance` beside the package; not everyone has it.
enum Conformance {
    static let folder = Repository.shared.appending(path: "conformance")

    static var exists: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    static func lines(_ name: String) throws -> [Substring] {
        try text(name).split(separator: "\n").filter { !$0.hasPrefix("//") }
    }

    static let absent = "the folder shared/conformance is not there"
}
