import Foundation
import PublicSuffix

/// Turns a public suffix list into the Swift file that the library carries.
///
///     public-suffix-compiler FILE [VERSION] > Sources/PublicSuffix/BundledSuffixTable.swift
///
/// `VERSION` names the origin of a file that does not name its own.
@main
enum PublicSuffixCompiler {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.first, arguments.count <= 2 else {
            stop("usage: public-suffix-compiler FILE [VERSION]", status: 64)
        }
        do {
            let file = try Data(contentsOf: URL(filePath: path))
            let list = try PublicSuffixList(parsing: file)
            let source = GeneratedSource(list: list, version: arguments.dropFirst().first)
            try FileHandle.standardOutput.write(contentsOf: Data(source.text.utf8))
        } catch let error as PublicSuffixListError {
            stop("\(path): \(error)", status: 65)
        } catch {
            stop("\(path): \(error.localizedDescription)", status: 66)
        }
    }

    private static func stop(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}
