import Foundation
import SessionOperations
import SessionStore
import WebPrimitives

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

    /// A string in an object of a JSON file; a file that cannot be read is rejected before it is written.
    static func member(_ file: String, _ object: String, _ key: String, _ value: String) -> String? {
        guard let bytes = try? InputFile(file).contents(limit: 1 << 24),
            let document = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
            let found = (document[object] as? [String: Any])?[key], found as? String != value
        else { return nil }
        return "\(file): \(object) has another helper for \(key): \(found)"
    }

    /// Returns the output of a command; `nil` if it fails, or cannot be run.
    private static func answer(of words: [String]) -> [UInt8]? {
        guard let program = ChildProcess.pathOfProgram(words[0]) else { return nil }
        let output = Output()
        var process = ChildProcess(program: program, failure: .fileNotWritten)
        do {
            try process.capture(STDOUT_FILENO) { output.bytes += $0 }
            try process.discard(STDERR_FILENO)
            return try process.run(words.dropFirst().map { Array($0.utf8) }) == 0 ? output.bytes : nil
        } catch {
            return nil
        }
    }

    private final class Output {
        var bytes: [UInt8] = []
    }
}
