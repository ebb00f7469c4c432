import Foundation
import Platform
import TestSupport
import Testing

@Suite("Where the key comes from, through the command")
struct KeySourceTests {
    private let home = CrumbHome()
    private static let key = Data((0..<32).map { UInt8($0) }).base64EncodedString()
    private static let other = Data((0..<32).map { UInt8($0 + 1) }).base64EncodedString()
    private static let url = "https://www.example.com/"

    private func importCookie(_ line: String, variables: [String: String?]) throws {
        let capture = try home.write(Capture.dump([line]), to: "response")
        let result = try home.crumb("import", "--url", KeySourceTests.url, capture, variables: variables)
        #expect(result.status == 0, "\(result.messages)")
    }

    @Test("CRUMB_KEY holds the key: no key file is made, and another key is a clear error")
    func environment() throws {
        let variables: [String: String?] = ["CRUMB_KEY": KeySourceTests.key]
        try importCookie("a=1; Path=/", variables: variables)
        #expect(!FileManager.default.fileExists(atPath: home.file("key")))
        #expect(try home.crumb("header", KeySourceTests.url, variables: variables).text == "Cookie: a=1\n")
        let cases: [(value: String?, status: Int32)] = [
            (KeySourceTests.other, 31), ("AAAA", 32), ("garbage!", 32), (nil, 30), ("", 30),
        ]
        for (value, status) in cases {
            let result = try home.crumb("header", KeySourceTests.url, variables: ["CRUMB_KEY": value])
            #expect(result.status == status && result.output.isEmpty, "\(result.messages)")
            #expect(value?.isEmpty != false || !result.messages.contains(value ?? ""))
        }
    }

    @Test("CRUMB_KEY is not handed on to curl", arguments: ["CRUMB_KEY", "OTHER"])
    func notInherited(variable: String) throws {
        try home.write("#!/bin/sh\nenv > '\(home.file("seen"))'\n", to: "curl", mode: 0o755)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        _ = try home.crumb(
            "curl", "--", KeySourceTests.url,
            variables: [variable: KeySourceTests.key, "PATH": "\(home.path):\(path)"])
        let seen = String(decoding: home.bytes("seen"), as: UTF8.self)
        #expect(seen.contains("XDG_DATA_HOME="))
        #expect(seen.contains(KeySourceTests.key) == (variable == "OTHER"))
    }

    #if os(Linux)
        @Test("/proc does not show the key in the environment any more")
        func scrubbed() throws {
            let pipe = home.file("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let process = try home.start(["import", pipe], variables: ["CRUMB_KEY": KeySourceTests.key])
            // The import has begun once it has opened its end.
            let writer = open(pipe, O_WRONLY)
            let seen = FileManager.default.contents(atPath: "/proc/\(process.id)/environ") ?? Data()
            #expect(seen.firstRange(of: Data("XDG_DATA_HOME=".utf8)) != nil)
            #expect(seen.firstRange(of: Data(KeySourceTests.key.utf8)) == nil)
            close(writer)
            _ = process.wait()
        }
    #endif

    @Test("A rotation re-encrypts everything with a second key in CRUMB_KEY, and the first one can go")
    func environmentRotation() throws {
        try importCookie("a=1; Path=/", variables: ["CRUMB_KEY": KeySourceTests.key])
        let alone = try home.crumb("key", "rotate", variables: ["CRUMB_KEY": KeySourceTests.key])
        #expect(alone.status == 72 && alone.messages.hasPrefix("crumb: CRUMB_KEY: "), "\(alone.messages)")
        let both: [String: String?] = ["CRUMB_KEY": "\(KeySourceTests.key),\(KeySourceTests.other)"]
        let result = try home.crumb("key", "rotate", variables: both)
        #expect(result.status == 0 && result.text == "rotated the key: 1 value resealed\n", "\(result.messages)")
        let listed = try home.crumb("key", "forget", variables: both)
        #expect(listed.status == 72 && listed.text.contains("; no known database needs it"), "\(listed.text)")
        for (value, status) in [("\(KeySourceTests.key)", 31), (KeySourceTests.other, 0)] {
            let result = try home.crumb("header", KeySourceTests.url, variables: ["CRUMB_KEY": value])
            #expect(result.status == Int32(status))
        }
    }

    @Test("A passphrase out of a file or a descriptor locks the key file from its first byte")
    func passphraseFile() throws {
        try home.write("correct horse\n", to: "passphrase")
        let variables: [String: String?] = ["CRUMB_PASSPHRASE_FILE": home.file("passphrase")]
        try importCookie("a=1; Path=/", variables: variables)
        #expect(String(decoding: home.bytes("key"), as: UTF8.self).hasPrefix("crumb-scrypt-1:17,8,1,"))
        #expect(try home.mode("key") == 0o600)
        #expect(try home.crumb("header", KeySourceTests.url, variables: variables).text == "Cookie: a=1\n")
        let descriptor = try home.shell(
            "CRUMB_PASSPHRASE_FILE=/dev/fd/3 crumb header \(KeySourceTests.url) 3<passphrase")
        #expect(descriptor.text == "Cookie: a=1\n", "\(descriptor.messages)")
        try home.write("battery staple\n", to: "passphrase")
        #expect(try home.crumb("header", KeySourceTests.url, variables: variables).status == 31)
        let none = try home.start(
            ["header", KeySourceTests.url], prefix: ["setsid", "--wait"]
        ).wait()
        #expect(none.status == 70 && none.messages.contains("CRUMB_PASSPHRASE_FILE"), "\(none.messages)")
    }

    /// `script` gives a command a terminal of its own.
    private func onTerminal(_ command: String, typing: String) throws -> RunResult {
        try home.shell("(sleep 1; printf '\(typing)'; sleep 1) | script -qec '\(command)' /dev/null")
    }

    @Test("A terminal is asked for the passphrase, and does not show it")
    func terminal() throws {
        try #require(try home.shell("command -v script").status == 0, "script, of bsdutils, is needed")
        // Locked with "one", at the least cost that is taken.
        try home.receive("a=1; Path=/")
        try home.write("one\n", to: "passphrase")
        #expect(try home.crumb("key", "passphrase", "--new-passphrase-file", home.file("passphrase")).status == 0)
        let right = try onTerminal("crumb header \(KeySourceTests.url)", typing: "one\\n")
        #expect(right.text.contains("Passphrase: ") && right.text.contains("Cookie: a=1"), "\(right.text)")
        #expect(!right.text.contains("one"))
        let wrong = try onTerminal("crumb header \(KeySourceTests.url)", typing: "two\\n")
        #expect(wrong.text.contains("the passphrase from the terminal does not unlock this key"))
    }

    @Test("The passphrase can be changed and removed; the status shows whether there is one")
    func passphrase() throws {
        try home.receive("a=1; Path=/")
        #expect(try home.crumb("key", "status").text.contains("\(home.file("key")) (one key, in the clear)"))
        for name in ["one", "two"] { try home.write("\(name)\n", to: name) }
        #expect(try home.crumb("key", "passphrase", "--new-passphrase-file", home.file("one")).status == 0)
        let status = try home.crumb("key", "status", "--json", variables: ["CRUMB_PASSPHRASE_FILE": home.file("one")])
        let report = try #require(try status.objects().first)
        #expect(report["locked"] as? Bool == true && report["keys"] as? Int == 1)
        #expect(report["rotationUnfinished"] as? Bool == false && report["source"] as? String == home.file("key"))
        let variables: [String: String?] = ["CRUMB_PASSPHRASE_FILE": home.file("one")]
        let changed = try home.crumb(
            "key", "passphrase", "--new-passphrase-file", home.file("two"), variables: variables)
        #expect(changed.status == 0, "\(changed.messages)")
        #expect(try home.crumb("key", "passphrase", "--remove", variables: variables).status == 31)
        let two: [String: String?] = ["CRUMB_PASSPHRASE_FILE": home.file("two")]
        #expect(try home.crumb("key", "passphrase", "--remove", variables: two).status == 0)
        #expect(try home.header() == "Cookie: a=1")
    }
}
