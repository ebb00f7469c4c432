import Foundation
import TestSupport

/// Captures that real tools wrote, in the folder `shared` beside the package; not everyone has it.
enum Samples {
    static var exist: Bool { FileManager.default.fileExists(atPath: Repository.shared.appending(path: "samples").path) }

    /// A sample whose dates are as far from now as they were when it was made, so that its cookies live.
    static func fresh(_ name: String) throws -> [UInt8] {
        let bytes = try Data(contentsOf: Repository.shared.appending(path: "samples/\(name)"))
        let text = String(decoding: bytes, as: UTF8.self)
        let age = Int64(Date().timeIntervalSince1970) - 1_795_229_782
        let year = Calendar(identifier: .gregorian).component(.year, from: Date(timeIntervalSinceNow: 200 * 86400))
        let dated = text.replacing("09 Jun 2027", with: "09 Jun \(year)")
        return Array(
            dated.replacing(#/\t(1[78]\d{8})\t/#) { match in "\t\((Int64(match.1) ?? 0) + age)\t" }.utf8)
    }
}
