import Foundation
import Testing

/// Files that some machines have and others do not.
enum Fixtures {
    /// The version that the bundled list was made from.
    static let debianVersion = "20230209.2326-1"

    static let debianListPath = "/usr/share/publicsuffix/public_suffix_list.dat"

    /// The list of the Debian package, where exactly the version is installed that the bundled list was made from.
    static let debianList: Data? = {
        guard let status = try? String(contentsOfFile: "/var/lib/dpkg/status", encoding: .utf8),
            let package = status.components(separatedBy: "\n\n").first(where: { entry in
                entry.hasPrefix("Package: publicsuffix\n")
            }),
            package.contains("\nVersion: \(debianVersion)\n")
        else { return nil }
        return FileManager.default.contents(atPath: debianListPath)
    }()

    static let packageRoot = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The vectors of publicsuffix.org, in the folder `shared/conformance` beside the package.
    static let conformanceFile = packageRoot.deletingLastPathComponent()
        .appending(path: "shared/conformance/public-suffix-tests.txt")

    static let conformanceVectors: [ConformanceVector] = {
        guard let text = try? String(contentsOf: conformanceFile, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in ConformanceVector(line: String(line)) }
    }()
}

/// A line `checkPublicSuffix('host', 'registrable domain')`.
struct ConformanceVector: Sendable, CustomTestStringConvertible {
    let host: String
    let registrableDomain: String?

    init?(line: String) {
        guard let match = line.wholeMatch(of: /checkPublicSuffix\('(.*?)', (?:null|'(.*?)')\);/) else { return nil }
        host = String(match.1)
        registrableDomain = match.2.map(String.init)
    }

    var testDescription: String {
        "\(host) -> \(registrableDomain ?? "null")"
    }
}
