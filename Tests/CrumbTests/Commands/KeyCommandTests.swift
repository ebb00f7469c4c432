import Foundation
import TestSupport
import Testing

@Suite("Keys, through the command")
struct KeyCommandTests {
    private let home = CrumbHome()

    @Test("A lost key, a wrong one, an exposed one and garbage have statuses of their own, and lose nothing")
    func statuses() throws {
        try home.receive("a=1")
        let key = home.bytes("key")
        try FileManager.default.removeItem(atPath: home.file("key"))
        let cases: [(bytes: [UInt8]?, mode: Int, status: Int32)] = [
            (nil, 0, 30), (key, 0o644, 33), (Array("garbage\n".utf8), 0o600, 32), ([], 0o600, 32),
            (Array("crumb-key-1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n".utf8), 0o600, 31),
        ]
        for (bytes, mode, status) in cases {
            if let bytes { try home.write(bytes, to: "key", mode: mode) }
            for command in [
                ["header", "https://www.example.com/"], ["list"], ["status"], ["token", "list"], ["prune"], ["check"],
                ["key", "rotate"],
            ] {
                let result = try home.start(command).wait()
                #expect(result.status == status, "\(result.messages)")
                #expect(result.messages.hasPrefix("crumb: ") && result.output.isEmpty)
            }
            #expect(home.bytes("key") == bytes ?? [])
        }
        try home.write(key, to: "key")
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("'key status' succeeds for a locked key, and a service reports what it needs")
    func locked() throws {
        try home.receive("a=1")
        try home.write("one\n", to: "passphrase")
        let lock = try home.crumb("key", "passphrase", "--new-passphrase-file", home.file("passphrase"))
        #expect(
            lock.status == 0 && lock.messages.contains("a running service needs CRUMB_PASSPHRASE_FILE"),
            "\(lock.messages)")
        // Without a terminal that could be asked on.
        func status(_ arguments: String..., variables: [String: String?] = [:]) throws -> RunResult {
            try home.start(["key", "status"] + arguments, prefix: ["setsid", "--wait"], variables: variables).wait()
        }
        let text = try status()
        #expect(text.status == 0 && text.text.contains("one key, locked with a passphrase"), "\(text.messages)")
        #expect(text.text.contains("CRUMB_PASSPHRASE_FILE"))
        let json = try #require(try status("--json").objects().first)
        #expect(json["locked"] as? Bool == true && json["rotationUnfinished"] == nil)
        let variables: [String: String?] = ["CRUMB_PASSPHRASE_FILE": home.file("passphrase")]
        let open = try #require(try status("--json", variables: variables).objects().first)
        #expect(open["locked"] as? Bool == true && open["rotationUnfinished"] as? Bool == false)
        let rotation = try home.crumb("key", "rotate", variables: variables)
        #expect(rotation.status == 0 && rotation.messages.contains("started without CRUMB_PASSPHRASE_FILE"))
    }

    @Test("Twenty processes that start at once make one key and one database")
    func race() throws {
        let captures = try (0..<20).map { number in
            try home.write(
                Capture.har([Capture.entry("https://www.example.com/", ["c\(number)=1; Path=/"])]), to: "har\(number)")
        }
        let processes = try captures.map { try home.start(["import", $0]) }
        for process in processes {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages)")
        }
        #expect(try home.mode("key") == 0o600 && home.mode("crumb.sqlite") == 0o600)
        #expect(try home.crumb("list", "--json").objects().count == 20)
        #expect(try home.header().components(separatedBy: "; ").count == 20)
        let leftovers = try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasPrefix("key") }
        #expect(leftovers.sorted() == ["key", "key.databases"])
    }

    @Test("A tampered value costs that cookie only")
    func damaged() throws {
        try home.receive("a=1; Path=/", "b=2; Path=/")
        let made = try home.shell("sqlite3 crumb.sqlite \"UPDATE cookie SET value = x'00' WHERE name = x'61'\"")
        try #require(made.status == 0, "sqlite3 is needed: \(made.messages)")
        let header = try home.crumb("header", "https://www.example.com/")
        #expect(header.status == 0 && header.text == "Cookie: b=2\n")
        #expect(header.messages.hasPrefix("crumb: a  www.example.com/: "))
        let list = try home.crumb("list", "--json", "--values")
        #expect(list.status == 35)
        #expect(try list.objects().map { $0["name"] as? String } == ["b"])
        #expect(try home.crumb("explain", "https://www.example.com/").text.contains("(unreadable)"))
    }
}
