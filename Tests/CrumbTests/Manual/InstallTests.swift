import Foundation
import TestSupport
import Testing

@Suite("Scripts/install")
struct InstallTests {
    private let home = CrumbHome()
    private static let script = Repository.root.appending(path: "Scripts/install").path
    private static let programs = URL(filePath: CrumbHome.program).deletingLastPathComponent().path

    private func install(_ arguments: String, variables: String = "") throws -> RunResult {
        try home.shell("\(variables) '\(Self.script)' \(arguments)")
    }

    private func files(under folder: String) -> [String] {
        (FileManager.default.subpaths(atPath: home.file(folder)) ?? []).sorted()
    }

    /// The links of the Markdown files in a folder that lead to no file there.
    private func deadLinks(under folder: String) -> [String] {
        files(under: folder).filter { $0.hasSuffix(".md") }.flatMap { page -> [String] in
            let text = String(decoding: home.bytes("\(folder)/\(page)"), as: UTF8.self)
            let place = URL(filePath: home.file("\(folder)/\(page)")).deletingLastPathComponent()
            return text.matches(of: /\]\(([^)\s#:]+)(#[^)\s]*)?\)/).map { String($0.1) }.filter {
                !FileManager.default.fileExists(atPath: place.appending(path: $0).standardizedFileURL.path)
            }.map { "\(page): \($0)" }
        }
    }

    @Test("Installs twice to a prefix, and uninstalls to nothing")
    func roundTrip() throws {
        let options = "--prefix '\(home.file("new/prefix"))' --programs '\(Self.programs)'"
        let first = try install(options)
        try #require(first.status == 0, "\(first.messages)")
        let installed = files(under: "new")
        #expect(try install(options).status == 0)
        #expect(files(under: "new") == installed)
        for file in [
            "bin/crumb", "bin/crumb-network", "share/man/man1/crumb.1", "share/man/man1/crumb-serve.1",
            "share/bash-completion/completions/crumb", "share/zsh/site-functions/_crumb",
            "share/fish/vendor_completions.d/crumb.fish", "share/systemd/user/crumb.service",
            "share/systemd/user/crumb.socket", "share/doc/crumb/docs/exit-statuses.md",
            "share/doc/crumb/docs/systemd/crumb.service.d/cluster.conf", "share/doc/crumb/docs/examples/login.har",
        ] {
            #expect(installed.contains("prefix/\(file)"), "\(file)")
        }
        #expect(deadLinks(under: "new/prefix/share/doc/crumb") == [])
        let run = try home.shell("new/prefix/bin/crumb --version")
        #expect(run.status == 0 && run.text == first.text.split(separator: " ")[1] + "\n")
        let unit = try home.shell("grep '^ExecStart=' new/prefix/share/systemd/user/crumb.service").text
        #expect(unit == "ExecStart=\(home.file("new/prefix"))/bin/crumb serve\n")
        // Whatever the person put there stays, and so does its folder.
        try home.write("mine", to: "new/prefix/share/mine")
        #expect(try install("--uninstall --prefix '\(home.file("new/prefix"))'").status == 0)
        #expect(files(under: "new") == ["prefix", "prefix/share", "prefix/share/mine"])
        let again = try install("--uninstall --prefix '\(home.file("new/prefix"))'")
        #expect(again.status == 1 && again.messages.contains("nothing is installed"))
    }

    @Test("DESTDIR is put before every path, and is in no file; nothing is left of it afterwards")
    func destination() throws {
        let variables = "HOME=/home/nobody DESTDIR='\(home.file("root"))'"
        #expect(try home.shell("mkdir root").status == 0)
        let result = try install("--prefix /usr --programs '\(Self.programs)'", variables: variables)
        try #require(result.status == 0, "\(result.messages)")
        let unit = try home.shell("grep '^ExecStart=' root/usr/lib/systemd/system/crumb.service").text
        #expect(unit == "ExecStart=/usr/bin/crumb serve\n")
        #expect(try home.shell("grep -r '\(home.path)' root/usr/lib root/usr/share").status == 1)
        #expect(try install("--uninstall --prefix /usr", variables: variables).status == 0)
        #expect(files(under: "root") == [])
    }

    @Test("The man pages are clean, and the units name pages that exist")
    func manual() throws {
        let folder = home.file("man1")
        #expect(try home.shell("mkdir man1").status == 0)
        let written = try home.crumb("manual", folder)
        #expect(written.status == 0, "\(written.messages)")
        let pages = files(under: "man1")
        #expect(pages.count > 20 && written.text.split(separator: "\n").count == pages.count)
        if try home.shell("command -v man").status == 0 {
            let warnings = try home.shell(
                "for page in man1/*; do MANROFFSEQ= man --warnings -E UTF-8 -l -Tutf8 $page >/dev/null; done")
            #expect(warnings.messages.isEmpty, "\(warnings.messages)")
        }
        for unit in ["crumb.service", "user/crumb.service"] {
            let text = try String(contentsOf: Repository.root.appending(path: "docs/systemd/\(unit)"), encoding: .utf8)
            let named = text.matches(of: /man:([a-z-]+)\(1\)/).map { "\($0.1).1" }
            #expect(!named.isEmpty && Set(named).isSubset(of: pages), "\(named)")
        }
    }

    @Test("A page has every command and option of its group, and the first page every variable")
    func manualContent() throws {
        #expect(try home.shell("mkdir man1").status == 0)
        #expect(try home.crumb("manual", home.file("man1")).status == 0)
        func page(_ name: String) -> String {
            String(decoding: home.bytes("man1/\(name).1"), as: UTF8.self).replacing("\\-", with: "-")
        }
        #expect(
            page("crumb-jars").contains(".SS \"crumb jars fields remove\"") && page("crumb-jars").contains("--scope"))
        #expect(page("crumb-import").contains("--received-now") && page("crumb-import").contains("\\fIfiles\\fR ..."))
        let sources = try home.shell("grep -rhoE '\"CRUMB_[A-Z_]+\"' '\(Repository.root.path)/Sources/CrumbCommands'")
            .text
        let variables = Set(sources.split(separator: "\n").map { $0.trimmingCharacters(in: ["\""]) })
        for name in variables { #expect(page("crumb").contains("\\fB\(name)\\fR"), "\(name)") }
        #expect(variables.contains("CRUMB_JAR"))
    }

    @Test("The completions load, and bash completes a command", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        guard try home.shell("command -v \(shell)").status == 0 else { return }
        #expect(try home.shell("crumb --generate-completion-script \(shell) > completion").status == 0)
        let check =
            switch shell {
            case "bash": "bash -c 'source ./completion && complete -p crumb'"
            case "zsh": "zsh -n completion"
            default: "fish --no-execute completion"
            }
        let result = try home.shell(check)
        #expect(result.status == 0 && result.messages.isEmpty, "\(result.messages)")
    }

    @Test("A prefix that units cannot name is refused", arguments: ["'/tmp/a b'", "'/tmp/%h'", "''", "/"])
    func prefix(text: String) throws {
        #expect(try install("--prefix \(text) --programs '\(Self.programs)'").status == 64)
        #expect(try install("--nonsense").status == 64)
    }
}
