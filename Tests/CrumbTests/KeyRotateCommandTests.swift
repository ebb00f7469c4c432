import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Rotating the key, through the command")
struct KeyRotateCommandTests {
    private let home = CrumbHome()

    private func fill(cookies: Int) throws {
        let capture = try home.write(Capture.har(cookies: cookies, named: "c"), to: "har")
        #expect(try home.crumb("import", capture).status == 0)
        let token = try home.crumb("token", "import", "work", input: "access-token-of-work\n")
        #expect(token.status == 0, "\(token.messages)")
    }

    /// How many cookies can be read; `nil` where something is wrong.
    private func readable() throws -> Int? {
        let result = try home.crumb("list", "--json", "--values")
        let values = try result.objects().compactMap { $0["value"] as? String }
        return result.status == 0 && values.allSatisfy { $0 == "vvvvvvvvvvvvvvvvvvvv" } ? values.count : nil
    }

    @Test("A rotation prints its result, and everything can be read with the new key only")
    func rotated() throws {
        try fill(cookies: 100)
        let old = home.bytes("key")
        let result = try home.crumb("key", "rotate")
        #expect(result.status == 0 && result.text == "rotated the key: 101 values resealed\n", "\(result.messages)")
        #expect(result.messages.contains("earlier backups"))
        #expect(try readable() == 100)
        #expect(try home.crumb("token", "get", "work").text == "access-token-of-work\n")
        #expect(try home.mode("key") == 0o600 && home.bytes("key") != old)
        let again = try #require(try home.crumb("key", "rotate", "--json").objects().first)
        #expect(again["resealed"] as? Int == 101 && again["resumed"] as? Bool == false)
        try home.write(old, to: "key")
        #expect(try home.crumb("list").status == 31)
    }

    @Test("A rotation that is killed at any moment loses nothing, and the next one ends it")
    func killed() throws {
        try fill(cookies: 150)
        // How long it takes where nobody kills it, which depends on what else the machine does.
        let start = ContinuousClock.now
        #expect(try home.crumb("key", "rotate").status == 0)
        let duration = ContinuousClock.now - start
        var moments = KillMoments()
        var interrupted = 0
        var unfinished = 0
        for round in 0..<30 {
            let process = try home.start(["key", "rotate"])
            if round % 3 == 1 {
                // Most of the time goes into the start and the end of the process.
                let deadline = ContinuousClock.now + duration * 4
                while keyCount < 2, ContinuousClock.now < deadline { usleep(20) }
                moments.wait(atMost: 1000)
            } else {
                moments.wait(atMost: Int(duration / .microseconds(1)))
            }
            process.kill()
            if process.wait().status == -SIGKILL { interrupted += 1 }
            if keyCount == 2 { unfinished += 1 }
            #expect(try readable() == 150, "round \(round); \(moments)")
            #expect(try home.crumb("token", "get", "work").text == "access-token-of-work\n")
            #expect(try home.mode("key") == 0o600)
            if round % 3 == 0 {
                try home.receive("n\(round)=1; Path=/", from: "https://during.example/")
            }
            if round % 3 == 2 {
                let result = try home.crumb("key", "rotate")
                #expect(result.status == 0, "round \(round): \(result.messages)")
                #expect(keyCount == 1)
                let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
                #expect(!names.contains { $0.hasSuffix(".new") }, "\(names)")
            }
            try clearDuring()
        }
        #expect(interrupted >= 10 && unfinished >= 1, "\(interrupted) killed, \(unfinished) within the rotation")
        #expect(try home.crumb("check").status == 0)
    }

    /// How many keys the file has: the newest, and those that something is still sealed under.
    private var keyCount: Int { home.bytes("key").count { $0 == UInt8(ascii: "\n") } }

    /// Takes the cookies away that a round has added, so that the counts stay what they are.
    private func clearDuring() throws {
        let header = try home.header("https://during.example/")
        guard !header.isEmpty else { return }
        let names = header.dropFirst("Cookie: ".count).components(separatedBy: "; ").map { $0.prefix { $0 != "=" } }
        for name in names { try home.receive("\(name)=; Path=/; Max-Age=0", from: "https://during.example/") }
    }

    @Test("Processes that read and write during a rotation lose nothing")
    func beside() throws {
        try fill(cookies: 150)
        let captures = try (0..<4).map { number in
            try home.write(Capture.har(cookies: 50, named: "x\(number)-", host: "x.example"), to: "har\(number)")
        }
        let rotation = try home.start(["key", "rotate"])
        let imports = try captures.map { try home.start(["import", $0]) }
        for process in [rotation] + imports {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages)")
        }
        #expect(try home.crumb("key", "rotate").status == 0)
        // A jar keeps 180 cookies of a domain.
        #expect(try readable() == 150 + 180)
    }

    @Test("The key of the user's own database stays in the file while another one is rotated")
    func otherDatabase() throws {
        let variables: [String: String?] = ["CRUMB_DATABASE": nil, "CRUMB_KEY_FILE": nil]
        let capture = try home.write(Capture.dump(["a=1; Path=/"]), to: "response")
        for database in [[], ["--database", home.file("other.sqlite")]] {
            let words = ["import", "--url", "https://www.example.com/", capture] + database
            #expect(try home.start(words, variables: variables).wait().status == 0)
        }
        let rotated = try home.start(
            ["key", "rotate", "--database", home.file("other.sqlite")], variables: variables
        ).wait()
        #expect(rotated.status == 0 && rotated.messages.contains("the old key stays"), "\(rotated.messages)")
        let url = "https://www.example.com/"
        #expect(try home.crumb("header", url, variables: variables).text == "Cookie: a=1\n")
        #expect(
            try home.crumb("key", "rotate", variables: variables).text.hasPrefix("finished a rotation: 1 "))
        #expect(try home.crumb("header", url, variables: variables).text == "Cookie: a=1\n")
    }

    @Test("Without a database there is nothing to rotate, and nothing is made")
    func nothing() throws {
        #expect(try home.crumb("key", "rotate").status == 23)
        #expect(!FileManager.default.fileExists(atPath: home.file("key")))
    }
}
