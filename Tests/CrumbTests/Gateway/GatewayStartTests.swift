import Foundation
import Platform
import TestSupport
import Testing

@Suite("The start of a gateway by a command")
struct GatewayStartTests {
    private let home = CrumbHome()

    private var jars: [String] {
        get throws { try home.crumb("jars", "--json").objects().compactMap { $0["name"] as? String } }
    }

    @Test("A jar that does not exist is created, and named, once the gateway runs")
    func createsJar() throws {
        let result = try home.crumb("run", "--jar", "new", "--", "true")
        #expect(result.status == 0 && result.messages.hasPrefix("created jar 'new'\n"), "\(result.messages)")
        #expect(try !home.crumb("run", "--jar", "new", "--", "true").messages.contains("created"))
        #expect(try jars == ["new"])
    }

    @Test(
        "A gateway that does not start leaves no jar, and keeps one that was there",
        arguments: [
            ["run", "--replay", "missing.har"], ["gateway", "run", "--replay", "missing.har"],
            ["gateway", "run", "--intercept", "shop.example"], ["gateway", "run", "--listen", "192.0.2.1:0"],
        ])
    func leavesNoJar(words: [String]) throws {
        let command = words[0] == "run" ? ["--", "true"] : []
        try home.receive("a=1", jar: "work")
        for name in ["typo", "work"] {
            let result = try home.start(words + ["--jar", name] + command).wait()
            #expect(result.status == 77 && !result.messages.contains("created"), "\(result.messages)")
        }
        #expect(try jars == ["work"])
    }

    @Test(
        "A service is no option, since the gateway runs in the command",
        arguments: [["run"], ["browse"], ["gateway", "run"]])
    func noService(words: [String]) throws {
        let help = try home.start(words + ["--help"]).wait()
        #expect(help.status == 0 && help.text.contains("--database") && !help.text.contains("--service"))
    }

    @Test("Offline, something has to answer: the error names each source")
    func offline() throws {
        let result = try home.crumb("run", "--offline", "--", "true")
        #expect(result.status == 64, "\(result.messages)")
        for source in ["with --replay", "with --cache SIZE", "crumb gateway package add"] {
            #expect(result.messages.contains(source), "\(result.messages)")
        }
    }

    @Test("A file that is no certificate is not overwritten with one")
    func authorityFile() throws {
        let path = try home.write("alias ll='ls -l'\n", to: "profile")
        let result = try home.crumb("gateway", "run", "--intercept", "shop.example", "--authority-file", path)
        #expect(
            result.status == 28 && result.messages.contains("\(path): there is something other than a certificate"),
            "\(result.messages)")
        #expect(String(decoding: home.bytes("profile"), as: UTF8.self) == "alias ll='ls -l'\n")
    }

    #if os(Linux)
        @Test("A signal before the command has started leaves no folder", arguments: [SIGINT, SIGTERM])
        func earlySignal(signal: Int32) throws {
            func folders() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasPrefix("crumb-run") }
            }
            let process = try home.start(["run", "--", "sleep", "1000"], variables: ["XDG_RUNTIME_DIR": nil])
            let deadline = ContinuousClock.now + .seconds(60)
            while try folders().isEmpty, ContinuousClock.now < deadline { usleep(1000) }
            process.send(signal)
            let result = process.wait()
            #expect(result.status == 128 + signal, "\(result.messages)")
            #expect(try folders().isEmpty)
        }
    #endif
}
