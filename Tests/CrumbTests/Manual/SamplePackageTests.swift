import Foundation
import TestSupport
import Testing

@Suite("docs/examples/package, the README's sample")
struct SamplePackageTests {
    private static func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }

    /// The blocks of the README that are marked `swift`.
    private static func blocks() throws -> [String] {
        try text("README.md").components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    @Test("The README's code is the package's")
    func code() throws {
        let source = try Self.text("docs/examples/package/Sources/SessionExample/main.swift")
        #expect(try Self.blocks().last == source)
    }

    @Test("The README's lines for Package.swift are the package's, but for the path")
    func manifest() throws {
        let manifest = try Self.text("docs/examples/package/Package.swift")
        let lines = try Self.blocks().dropLast().joined().split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        for line in lines {
            let line = line.replacing(#"path: "../crumb""#, with: #"path: "../../..""#)
            #expect(manifest.contains(" \(line)\n"), "\(line)")
        }
    }

    @Test("The sample package compiles unchanged, and prints its documented output")
    func runs() throws {
        let home = CrumbHome()
        let program = RunningProcess.built("session-example")
        let result = try home.shell("'\(program)' && '\(program)'")
        #expect(result.status == 0, "\(result.messages)")
        #expect(result.text == "Cookie: sid=31d4\nCookie: sid=31d4\n")
    }
}
