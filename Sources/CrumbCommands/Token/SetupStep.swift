import Platform
import SessionOperations
import SessionStore
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One step of setting up another program.
enum SetupStep: Encodable {
    /// Run a command.
    case command([String])
    /// Write a file that can be run.
    case program(file: String, contents: String)
    /// Put a string into an object that is a member of a JSON file's object.
    case member(file: String, object: String, key: String, value: String)

    /// The step for a person: a command as a shell takes it, or a file's name and content.
    var text: String {
        switch self {
        case .command(let words): ShellWord.line(words)
        case .program(let file, let contents): "# \(file):\n\(contents.dropLast())"
        case .member(let file, let object, let key, let value):
            "# \(file):\n{\"\(object)\": {\"\(key)\": \"\(value)\"}}"
        }
    }

    /// The foreign setting that the step would replace; `nil` for none.
    var conflict: String? {
        switch self {
        case .command(let words) where words.starts(with: ["git", "config", "--global", "--replace-all"]):
            SetupConflict.git(words[4])
        case .command(let words) where words.starts(with: ["kubectl", "config", "set-credentials"]):
            SetupConflict.kubectl(words[3])
        case .command: nil
        case .program(let file, _): SetupConflict.program(file)
        case .member(let file, let object, let key, let value): SetupConflict.member(file, object, key, value)
        }
    }

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if the command fails, or a file cannot be read or written.
    func carryOut() throws {
        switch self {
        case .command(let words): try run(words)
        case .program(let file, let contents):
            try write(Array(contents.utf8), to: file)
            guard chmod(file, 0o700) == 0 else { throw CommandFailure.notWritten(file, errno) }
        case .member(let file, let object, let key, let value):
            if let document = try document(file, object, key, value) {
                try write(Array(document) + Array("\n".utf8), to: file)
            }
        }
    }

    private func run(_ words: [String]) throws {
        guard let program = ChildProcess.pathOfProgram(words[0]) else {
            throw CommandFailure(.fileNotWritten, "\(words[0]) was not found on PATH; install it, or leave out --write")
        }
        var process = ChildProcess(program: program, failure: .fileNotWritten)
        // The command's message on success is not part of the output.
        try process.capture(STDOUT_FILENO) { _ in }
        let status = try process.run(words.dropFirst().map { Array($0.utf8) })
        guard status == 0 else {
            throw CommandFailure(.fileNotWritten, "\(text): the command ended with status \(status)")
        }
    }

    /// The whole file with the member in it; `nil` if it has that already.
    private func document(_ file: String, _ object: String, _ key: String, _ value: String) throws -> Data? {
        var document: [String: JSONTree] = [:]
        if access(file, F_OK) == 0 {
            let bytes = try InputFile(file).contents(limit: 1 << 24, otherwise: .fileNotWritten)
            let found = try? JSONDecoder().decode([String: JSONTree].self, from: Data(bytes))
            guard let found, found[object].map({ $0.members != nil }) ?? true else {
                throw CommandFailure(
                    .fileNotWritten,
                    "\(file): this is not a valid configuration of docker, and was not changed; correct it "
                        + "first"
                )
            }
            document = found
        }
        var members = document[object]?.members ?? [:]
        guard members[key] != .string(value) else { return nil }
        members[key] = .string(value)
        document[object] = .object(members)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }

    private func write(_ bytes: [UInt8], to file: String) throws {
        PrivateFile.createFolders(above: file)
        try PrivateFile.write(bytes, at: file)
    }

    private enum CodingKeys: String, CodingKey {
        case command, file, contents, object, key, value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .command(let words): try container.encode(words, forKey: .command)
        case .program(let file, let contents):
            try container.encode(file, forKey: .file)
            try container.encode(contents, forKey: .contents)
        case .member(let file, let object, let key, let value):
            try container.encode(file, forKey: .file)
            try container.encode(object, forKey: .object)
            try container.encode(key, forKey: .key)
            try container.encode(value, forKey: .value)
        }
    }
}

/// The settings that setting up another program would replace, if they are not crumb's own: for a person, without
/// secrets.
enum SetupConflict {
    /// The helpers that git has for a key of its global configuration.
    static func git(_ key: String) -> String? {
        let output = answer(of: ["git", "config", "--global", "--null", "--get-all", key]) ?? []
        // An empty one only keeps the helpers before it from being asked.
        let others = output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.filter { helper in
            !helper.contains(" token helper git ")
        }
        guard !others.isEmpty else { return nil }
        return "git: \(key) has \(others.count == 1 ? "another helper" : "other helpers"): "
            + others.joined(separator: ", ")
    }

    /// The credentials that a user of the kubeconfig has.
    static func kubectl(_ user: String) -> String? {
        struct Configuration: Decodable {
            let users: [Entry]?
        }
        struct Entry: Decodable {
            let name: String
            let user: User?
        }
        struct User: Decodable {
            struct Command: Decodable {
                let command: String?
                let args: [String]?
            }

            let kinds: [String]
            let exec: Command?

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: AnyMember.self)
                kinds = members.allKeys.map(\.stringValue).sorted()
                exec = try? members.decodeIfPresent(Command.self, forKey: AnyMember(stringValue: "exec"))
            }
        }
        guard let output = answer(of: ["kubectl", "config", "view", "--output=json"]),
            let configuration = try? JSONDecoder().decode(Configuration.self, from: Data(output)),
            let found = configuration.users?.first(where: { $0.name == user })?.user
        else { return nil }
        let isOwn = found.exec?.args?.starts(with: ["token", "export", "--format", "kubernetes"]) == true
        let others = found.kinds.filter { $0 != "exec" || !isOwn }
        guard !others.isEmpty else { return nil }
        let program = isOwn ? nil : found.exec?.command.map { " (\($0))" }
        return "kubectl: the user '\(user)' has other credentials: \(others.joined(separator: ", "))\(program ?? "")"
    }

    /// The program at a path.
    static func program(_ file: String) -> String? {
        guard access(file, F_OK) == 0 else { return nil }
        let contents = try? InputFile(file).contents(limit: 1 << 16)
        let isOwn = contents.map { String(decoding: $0, as: UTF8.self).contains(" token helper docker ") } ?? false
        return isOwn ? nil : "\(file): this program does not belong to crumb"
    }

    /// A string in an object of a JSON file; a file that cannot be read is rejected later, before it is written.
    static func member(_ file: String, _ object: String, _ key: String, _ value: String) -> String? {
        guard let bytes = try? InputFile(file).contents(limit: 1 << 24),
            let document = try? JSONDecoder().decode([String: JSONTree].self, from: Data(bytes)),
            let found = document[object]?.members?[key], found != .string(value)
        else { return nil }
        return "\(file): \(object) has another helper for \(key): \(found.shown)"
    }

    /// Returns the output of a command; `nil` if it fails, or cannot be run.
    private static func answer(of words: [String]) -> [UInt8]? {
        guard let program = ChildProcess.pathOfProgram(words[0]) else { return nil }
        var output: [UInt8] = []
        var process = ChildProcess(program: program, failure: .fileNotWritten)
        do {
            try process.capture(STDOUT_FILENO) { output += $0 }
            try process.discard(STDERR_FILENO)
            return try process.run(words.dropFirst().map { Array($0.utf8) }) == 0 ? output : nil
        } catch {
            return nil
        }
    }
}
