import Foundation
import TestSupport
import Testing

@testable import CrumbCommands

@Suite("Documentation")
struct DocumentationTests {
    static func text(_ name: String) -> String? {
        try? String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }

    @Test("Every file of the walks through the sources is there, and no walk is longer than fifteen files")
    func walks() throws {
        let text = try #require(DocumentationTests.text("docs/architecture.md"))
        let part = try #require(
            text.components(separatedBy: "## Code walkthroughs").last?.components(separatedBy: "\n## ").first)
        let walks = part.components(separatedBy: "| --- | --- |").dropFirst()
        #expect(walks.count == 3)
        for walk in walks {
            let files = walk.matches(of: #/`([^`]+\.swift)`/#).map { String($0.1) }
            #expect((5...15).contains(files.count))
            for file in files { #expect(DocumentationTests.text("Sources/\(file)") != nil, "\(file)") }
        }
    }

    @Test("Every command of the README and of the guides exists, with each of its options")
    func commands() throws {
        let root = try CommandDescription.root()
        let folder = Repository.root.appending(path: "docs")
        let guides = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        var count = 0
        for file in ["README.md"] + guides.map({ "docs/\($0)" }) {
            let text = try #require(DocumentationTests.text(file))
            let blocks = text.matches(of: #/```(?:sh|console|bash)\n([\s\S]*?)```/#).map { $0.1 }
            let inline = text.replacing(#/```[\s\S]*?```/#, with: "").matches(of: #/`([^`\n]*)`/#).map { $0.1 }
            let lines = blocks.flatMap { $0.replacing("\\\n", with: " ").split(separator: "\n") } + inline
            for part in lines.flatMap({ $0.split(separator: #/ #|;|&&|[|]|\$\(/#) }) {
                let words = part.split(separator: " ").drop { $0 == "$" || $0.contains("=") }
                guard words.first == "crumb" else { continue }
                count += 1
                #expect(DocumentationTests.unknownWord(words.dropFirst(), of: root) == nil, "\(file): \(part)")
            }
        }
        #expect(count > 200)
    }

    /// The first word of a command that is no command or option; `nil` if there is none.
    private static func unknownWord(_ words: ArraySlice<Substring>, of root: CommandDescription) -> Substring? {
        var (command, words) = (root, words)
        while let word = words.first,
            let next = command.subcommands?.first(where: {
                $0.commandName == word || $0.aliases?.contains(String(word)) == true
            })
        {
            (command, words) = (next, words.dropFirst())
        }
        if command.fullName == root.fullName, let word = words.first, word.first?.isLetter == true { return word }
        // The rest is for curl, or for another program.
        if command.commandName == "curl" { return nil }
        let own = [command] + (command.subcommands ?? []).filter { $0.commandName == "run" }
        let names = Set(own.flatMap { $0.arguments ?? [] }.flatMap { $0.names ?? [] }.map(\.spelled))
        return words.prefix { $0 != "--" }.first { word in
            guard word.first == "-", word.count > 1, !word.dropFirst().allSatisfy(\.isNumber) else { return false }
            let option = word.prefix { $0 != "=" }.trimmingCharacters(in: .punctuationCharacters.subtracting(["-"]))
            return !names.contains(option) && !names.contains(String(option.prefix(2)))
        }
    }

    /// A command of a README and what it prints.
    struct Example: Sendable, CustomTestStringConvertible {
        let command: String
        var output: [String] = []

        var testDescription: String { command }
    }

    /// The commands in the fenced blocks marked `console`.
    private static func examples(_ text: String) -> [[Example]] {
        var blocks: [[Example]] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```console" {
                isInside = true
                blocks.append([])
            } else if line.hasPrefix("```") {
                isInside = false
            } else if isInside, let block = blocks.indices.last {
                if line.hasPrefix("$ ") {
                    blocks[block].append(Example(command: String(line.dropFirst(2))))
                } else if let last = blocks[block].indices.last {
                    blocks[block][last].output.append(String(line))
                }
            }
        }
        return blocks
    }

    @Test(
        "The examples of the README and of the guides print the documented output",
        arguments: ["README.md", "docs/jars.md", "docs/storing.md", "docs/exporting.md"])
    func examples(file: String) throws {
        let blocks = DocumentationTests.examples(try #require(DocumentationTests.text(file)))
        #expect(!blocks.isEmpty)
        var home = CrumbHome()
        var project = try prepare(home)
        for block in blocks {
            // The blocks of the guide to jars go on from each other; those of the one to storage begin anew.
            if file == "docs/storing.md" {
                home = CrumbHome()
                project = try prepare(home)
            }
            for example in block {
                // The files that an example names are those of the folder it is run in.
                let command =
                    file == "docs/storing.md"
                    ? "export CRUMB_KEY_FILE=key CRUMB_DATABASE=crumb.sqlite; \(example.command)" : example.command
                let result = try home.shell(command, folder: project, joinsTalk: true)
                let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                #expect(
                    lines.map(DocumentationTests.withoutAge) == example.output.map(DocumentationTests.withoutAge),
                    "\(example.command)")
            }
        }
    }

    /// A line in which the time since something happened does not count.
    private static func withoutAge(_ line: some StringProtocol) -> String {
        String(line).replacing(#/\d+ [a-z]+ ago/#, with: "… ago")
    }

    @Test("The example of client credentials in the guide to tokens works at a server without discovery")
    func clientCredentials() throws {
        let part = try #require(
            DocumentationTests.text("docs/tokens.md")?.components(separatedBy: "\n## Log in as a client\n").last)
        let example = try #require(part.firstMatch(of: #/```sh\n([\s\S]*?)```/#)?.1)
        let (home, server) = (CrumbHome(), try AuthorizationServer())
        try home.write("client-s3cret\n", to: "billing.secret")
        let result = try home.shell(String(example).replacing("https://id.example", with: server.issuer))
        #expect(result.status == 0 && result.text.hasSuffix("Authorization: Bearer machine-1\n"), "\(result.messages)")
        #expect(server.paths == ["/token"])
        #expect(server.forms(at: "/token") == ["grant_type=client_credentials&scope=invoices.read"])
    }

    /// A folder with the documentation in it; gives its path.
    private func prepare(_ home: CrumbHome) throws -> String {
        let docs = Repository.root.appending(path: "docs").path
        #expect(try home.shell("mkdir project && cp -R '\(docs)' project/").status == 0)
        return home.file("project")
    }
}
