import Foundation
import TestSupport
import Testing

@testable import CrumbCommands

@Suite("Packet captures")
struct PacketCaptureTests {
    private let home = CrumbHome()
    private static let pcapng: [UInt8] = [
        0x0A, 0x0D, 0x0D, 0x0A, 0x1C, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0x1C, 0, 0, 0,
    ]

    /// What tshark printed of curl and nginx; see `TsharkTests`. Only session cookies in it are still there today.
    private static let recording = Repository.root
        .appending(path: "Tests/CapturesTests/Recordings/Samples/tshark.json").path

    /// Puts a program in the place of tshark; the environment that finds it first.
    private func stub(_ script: String) throws -> [String: String?] {
        let note = #"printf '%s\n' "$*" >> "$HOME/arguments""#
        try home.write("#!/bin/sh\n\(note)\n\(script)\n", to: "tshark", mode: 0o700)
        return ["PATH": "\(home.path):/usr/bin:/bin"]
    }

    private var arguments: [Substring] {
        String(decoding: home.bytes("arguments"), as: UTF8.self).split(separator: "\n")
    }

    @Test("A packet capture is read through tshark, with the key log if one is given")
    func tshark() throws {
        let variables = try stub("cat '\(Self.recording)'")
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let keys = try home.write("CLIENT_RANDOM 00 11\n", to: "keys.log")
        let result = try home.crumb("import", "--tls-keys", keys, path, variables: variables)
        #expect(result.status == 0, "\(result.text)\(result.messages)")
        #expect(try home.header("https://www.example.com/login").contains("b=Grüße"))
        #expect(arguments.last?.contains("-r \(path)") == true)
        #expect(arguments.last?.contains("tls.keylog_file:\(keys)") == true)
        let again = try home.crumb("import", "--tls-keys", keys, path, variables: variables)
        #expect(again.text.contains("imported before"))
        let converted = try home.crumb("convert", "--to", "json", path, variables: variables)
        #expect(converted.text.contains("\"Grüße\""), "\(converted.messages)")
        #expect(arguments.last?.contains("keylog") == false)
    }

    @Test("A truncated capture gives its readable part, and is reported")
    func truncated() throws {
        let variables = try stub(
            """
            cat '\(Self.recording)'
            echo 'Running as user "root" and group "root". This could be dangerous.' >&2
            echo 'tshark: The file "x" appears to have been cut short in the middle of a packet.' >&2
            exit 2
            """)
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let result = try home.crumb("import", path, variables: variables)
        #expect(result.status == 12)
        #expect(result.messages.contains("cut short") && !result.messages.contains("dangerous"), "\(result.messages)")
        #expect(try home.header("https://www.example.com/login").contains("b=Grüße"))
    }

    @Test("A capture that no key opens asks for the key log")
    func encrypted() throws {
        let packet = #"{"_source":{"layers":{"frame":{},"tcp":{"tcp.stream":"0"},"tls":{"filtered":"tls"}}}}"#
        let variables = try stub("echo '[\(packet)]'")
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let result = try home.crumb("import", path, variables: variables)
        #expect(result.status == 11)
        #expect(
            result.messages.contains("1 TLS connection") && result.messages.contains("--tls-keys FILE"),
            "\(result.messages)")
    }

    @Test(
        "A key log that is none is named before tshark runs",
        arguments: [
            (nil, Int32(17)), ("", 10), ("{\"log\":{}}", 11),
        ])
    func keyLog(content: String?, status: Int32) throws {
        let variables = try stub("cat '\(Self.recording)'")
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        if let content { try home.write(content, to: "keys.log") }
        let result = try home.crumb("import", "--tls-keys", home.file("keys.log"), path, variables: variables)
        #expect(result.status == status && result.messages.contains("keys.log"), "\(result.messages)")
        #expect(arguments.isEmpty)
    }

    @Test("A key log in a pipe is refused, one that others can read is warned of")
    func keyLogFile() throws {
        let variables = try stub("cat '\(Self.recording)'")
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let made = try home.shell("mkfifo keys.pipe")
        try #require(made.status == 0, "\(made.messages)")
        for command in ["import", "convert --to json"] {
            let words = command.split(separator: " ").map(String.init)
            for keys in [home.file("keys.pipe"), "-", "/dev/null"] {
                let result = try home.start(words + ["--tls-keys", keys, path], variables: variables).wait()
                #expect(result.status == 16 && result.messages.contains("must be a regular file"), "\(result.messages)")
            }
            for (mode, isExposed) in [(0o600, false), (0o640, true), (0o604, true)] {
                let keys = try home.write("CLIENT_RANDOM 00 11\n", to: "keys-\(mode).log", mode: mode)
                let result = try home.start(words + ["--tls-keys", keys, path], variables: variables).wait()
                #expect(result.status == 0)
                #expect(
                    result.messages.contains("warning: \(keys): other users can read") == isExposed,
                    "\(result.messages)")
            }
        }
    }

    @Test("Without tshark, the error names the package to install; other captures are read")
    func missing() throws {
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let dump = try home.write("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n", to: "dump")
        let result = try home.crumb(
            "import", "--url", "https://www.example.com/", path, dump, variables: ["PATH": home.path])
        #expect(result.status == 58 && result.messages.contains("apt install tshark"), "\(result.messages)")
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A tshark that never ends is stopped")
    func slow() throws {
        try home.write("#!/bin/sh\necho $$ > '\(home.file("id"))'\nexec sleep 1000\n", to: "tshark", mode: 0o700)
        let path = try home.write(Self.pcapng, to: "x.pcapng")
        let capture = PacketCapture(path: path, keys: nil, timeLimit: .zero, program: home.file("tshark"))
        let problem = #expect(throws: CommandFailure.self) { try capture.nextChunk() }
        #expect(problem?.message.contains("editcap") == true)
        #expect(try capture.nextChunk() == nil)
    }
}
