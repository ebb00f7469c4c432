import Foundation
import PublicSuffix
import Testing

@testable import CookieModel

@Suite("The public suffix list's own checks", .enabled(if: Conformance.exists, Comment(rawValue: Conformance.absent)))
struct PublicSuffixVectorTests {
    /// The two arguments of `checkPublicSuffix('a', 'b');`, `nil` for `null`.
    private func arguments(_ line: Substring) throws -> (host: String?, registrable: String?) {
        let inside = try #require(line.split(separator: "(").last?.split(separator: ")").first)
        let parts = inside.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(parts.count == 2, "\(line)")
        func unquoted(_ part: String) -> String? {
            part == "null" ? nil : part.trimmingCharacters(in: CharacterSet(charactersIn: "'"))
        }
        return (unquoted(parts[0]), unquoted(parts[1]))
    }

    @Test("Every host has the registrable domain that the list's maintainers say")
    func vectors() throws {
        let lines = try Conformance.lines("public-suffix-tests.txt").filter { $0.hasPrefix("checkPublicSuffix(") }
        #expect(lines.count == 78)
        for line in lines {
            let (name, registrable) = try arguments(line)
            guard let name else { continue }
            let host = try #require(WebHost(name), "\(line)")
            let list = PublicSuffixList.bundled
            guard let registrable else {
                #expect(host.isPublicSuffix(list), "\(line)")
                #expect(host.registrableDomain(list) == host.octets, "\(line)")
                continue
            }
            #expect(!host.isPublicSuffix(list), "\(line)")
            #expect(host.registrableDomain(list) == WebHost(registrable)?.octets, "\(line)")
        }
    }
}
