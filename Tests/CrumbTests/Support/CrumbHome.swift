import CookieModel
import Foundation
import SessionStore
import TestSupport
import Testing

/// A person's home, new and empty, to run the built `crumb` in.
final class CrumbHome: Sendable {
    let path: String
    /// The folder above it, in which it is the place of the default database.
    private let dataFolder: String

    /// - Parameter mode: the permissions of the folder.
    init(mode: Int = 0o700) {
        let name = "home-\(UUID().uuidString)"
        dataFolder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: name).path
        path = "\(dataFolder)/crumb"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: dataFolder)
    }

    /// The command to run: what `CRUMB` names, else the one beside the tests.
    static let program = ProcessInfo.processInfo.environment["CRUMB"] ?? RunningProcess.built("crumb")

    var environment: [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let folder = URL(filePath: CrumbHome.program).deletingLastPathComponent().path
        return [
            "HOME": self.path, "PATH": "\(folder):\(path)", "CRUMB_KEY_FILE": file("key"),
            "XDG_DATA_HOME": dataFolder, "TMPDIR": self.path,
        ]
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file in the folder and returns its path.
    @discardableResult
    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws -> String {
        let isProgram = mode & 0o111 != 0
        let written = isProgram ? "\(file(name)).text" : file(name)
        try Data(bytes).write(to: URL(filePath: written))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: written)
        // A process that another test starts at this moment has the file open for writing until it runs its program, and
        // what is open for writing cannot be run. A copy by another process is open there only.
        if isProgram {
            let copy = try Process.run(URL(filePath: "/bin/cp"), arguments: ["-p", written, file(name)])
            copy.waitUntilExit()
            try FileManager.default.removeItem(atPath: written)
        }
        return file(name)
    }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try write(text.utf8, to: name, mode: mode)
    }

    func bytes(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: file(name)).map { Array($0) } ?? []
    }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    /// Starts `crumb`.
    ///
    /// - Parameters:
    ///   - program: another `crumb` than the one that the tests run.
    ///   - prefix: a program that starts it, with its arguments.
    ///   - variables: what differs in the environment; `nil` takes a variable away.
    func start(
        _ arguments: [String], of program: String = CrumbHome.program, input: String = "/dev/null",
        output: String? = nil, messages: String? = nil, prefix: [String] = [], leadsGroup: Bool = false,
        variables: [String: String?] = [:]
    ) throws -> RunningProcess {
        var environment = environment
        for (name, value) in variables { environment[name] = value }
        let words = prefix + [program] + arguments
        return try RunningProcess(
            words[0], Array(words.dropFirst()), environment: environment, input: input, output: output,
            messages: messages, leadsGroup: leadsGroup, scratch: path)
    }

    /// Runs `crumb` and waits for it.
    func crumb(
        _ arguments: String..., input: String? = nil, prefix: [String] = [], variables: [String: String?] = [:]
    ) throws -> RunResult {
        let inputPath = try input.map { try write($0, to: "input-\(UUID().uuidString)") }
        return try start(arguments, input: inputPath ?? "/dev/null", prefix: prefix, variables: variables).wait()
    }

    /// Runs a shell command in `folder`, else in the home, with `crumb` on the PATH.
    func shell(_ command: String, folder: String? = nil, joinsTalk: Bool = false) throws -> RunResult {
        try RunningProcess(
            "/bin/sh", ["-c", "cd \"$0\" && \(command)", folder ?? path], environment: environment,
            joinsTalk: joinsTalk, scratch: path
        ).wait()
    }

    /// Imports cookies as a response of `url` and expects that to work.
    func receive(_ lines: String..., from url: String = "https://www.example.com/", jar: String = "default") throws {
        let name = "response-\(UUID().uuidString)"
        try write(Capture.dump(lines), to: name)
        let result = try crumb("import", "--jar", jar, "--url", url, file(name))
        #expect(result.status == 0, "\(result.messages)")
    }

    /// Stores cookies as a response received at `time`, usually in the past: the command's own clock is the system's.
    ///
    /// - Returns: The jar.
    @discardableResult
    func receive(
        _ lines: String..., from url: String = "https://www.example.com/", at time: Timestamp
    ) throws -> CookieJar {
        let database = try SessionDatabase(path: file("crumb.sqlite"), keys: .file(file("key")), now: time)
        let jar = try database.jar(named: "default", now: time)
        let context = RequestContext(url: try RequestURL(url))
        try jar.receive(ReceivedResponse(context: context, setCookie: lines.map { Octets($0) }), now: time)
        return jar
    }

    /// The Cookie header of a URL without its newline; empty where there is none.
    func header(_ url: String = "https://www.example.com/", jar: String = "default") throws -> String {
        let result = try crumb("header", "--jar", jar, url)
        #expect(result.status == (result.output.isEmpty ? 3 : 0), "\(result.messages)")
        return String(result.text.dropLast())
    }

    /// Makes an authority, `ca.pem`, and a certificate of its, `host.pem` with the key `host.key`.
    func makeCertificate(for name: String, names: String) throws {
        try write("subjectAltName=\(names)\n", to: "names")
        for command in [
            "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
            "openssl req -newkey rsa:2048 -nodes -subj /CN=\(name) -keyout host.key -out host.csr",
            "openssl x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out host.pem",
        ] {
            let result = try shell(command)
            #expect(result.status == 0, "\(result.messages)")
        }
    }
}

extension CrumbHome {
    /// Starts a server with the certificate of ``makeCertificate(for:names:)``.
    func startTLSServer() throws -> (server: RunningProcess, port: UInt16) {
        let port = try RunningService.freePort()
        let server = try RunningProcess(
            "openssl",
            ["s_server", "-accept", "\(port)", "-cert", file("host.pem"), "-key", file("host.key"), "-www", "-quiet"],
            environment: environment, scratch: path)
        return (server, port)
    }

    /// What `crumb explain` prints; expects that it succeeds and shows no value called `secret`.
    func explanation(_ words: [String]) throws -> String {
        let result = try start(["explain"] + words).wait()
        #expect(result.status == 0 && result.messages.isEmpty, "\(result.messages)")
        #expect(!result.text.contains("secret"), "a value")
        return result.text
    }
}
