import Foundation
import TestSupport
import Testing

/// A server of this run alone.
private let server = ProcessInfo.processInfo.environment["CRUMB_TEST_POSTGRESQL"]

@Suite(
    "Offline packages of a service over PostgreSQL",
    .enabled(if: server != nil, "CRUMB_TEST_POSTGRESQL names no server"))
struct SharedPackageTests {
    @Test("A package that is added on a node answers there at once, and stays after the key was rotated and forgotten")
    func node() throws {
        let address = try #require(server)
        let url = "\(address)/crumb_packages"
        func run(_ words: [String], in home: CrumbHome, _ variables: [String: String?] = [:]) throws {
            let result = try home.start(words, variables: variables).wait()
            #expect(result.status == 0, "\(words): \(result.messages)")
        }
        func add(_ version: String, in home: CrumbHome) throws {
            let file = home.file("\(version).zip")
            try home.write("script \(version)", to: "dist/app.js")
            try run(
                ["gateway", "package", "build", home.file("dist"), "--base", "http://shop.invalid/", "--name", "shop"]
                    + ["--version", version, "-o", file], in: home)
            try run(["gateway", "package", "add", "--jar", "work", "--database", url, file], in: home)
        }
        let service = try RunningService(.socket) { home in
            try FileManager.default.createDirectory(atPath: home.file("dist"), withIntermediateDirectories: true)
            let created = try home.shell("psql --quiet '\(address)/postgres' -c 'CREATE DATABASE crumb_packages'")
            #expect(created.status == 0, "\(created.messages)")
            try run(["key", "create", home.file("key")], in: home)
            try run(["cluster", "create", "--database", url], in: home)
            try add("1.0.0", in: home)
            return ["--database", url]
        }
        let home = service.home
        let started = try service.ask(["gateway", "start", "shop", "--jar", "work", "--client", "tool"])
        #expect(started.status == 0, "\(started.messages)")
        func answer() throws -> String {
            try home.shell("curl -sS --proxy \(started.text.dropLast()) http://shop.invalid/app.js").text
        }
        #expect(try answer() == "script 1.0.0")
        try run(["cluster", "rotate-key", "--new-key", "--database", url], in: home)
        try run(["cluster", "rotate-key", "--database", url], in: home)
        #expect(try answer() == "script 1.0.0")
        try run(["gateway", "package", "verify", "shop", "--jar", "work", "--database", url], in: home)
        try run(["key", "forget", "--yes"], in: home, ["CRUMB_DATABASE": url])
        #expect(try answer() == "script 1.0.0")
        try add("1.1.0", in: home)
        #expect(try answer() == "script 1.1.0")
        // The user of another node has none.
        let other = try home.crumb(
            "gateway", "package", "list", "--jar", "work", "--database", url,
            variables: ["XDG_DATA_HOME": home.file("other")])
        #expect(other.messages.hasPrefix("no packages in jar 'work' in \(home.file("other"))/crumb/packages/"))
        let nowhere = try home.crumb(
            "gateway", "package", "list", "--jar", "work", "--database", url,
            variables: ["XDG_DATA_HOME": nil, "HOME": nil])
        #expect(nowhere.status == 64 && nowhere.messages.contains("set XDG_DATA_HOME"), "\(nowhere.messages)")
        // A package that is refused leaves the jar, of which another node may have packages.
        let refused = try home.crumb(
            "gateway", "package", "add", "--jar", "fresh", "--database", url, "--origin", "https://other.invalid",
            home.file("1.1.0.zip"))
        #expect(refused.status != 0 && refused.messages.contains("created jar 'fresh'"), "\(refused.messages)")
    }
}
