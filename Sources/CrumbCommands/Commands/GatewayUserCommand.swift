import ArgumentParser
import OAuth2
import Platform
import SessionClient
import SessionOperations
import SessionStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GatewayUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Add, list and remove the users of a gateway, each with a jar.",
        discussion: """
            The users are in a file, which 'crumb gateway run --users FILE' and 'crumb gateway start --users FILE' read. \
            Only hashes of their secrets are in it.
            """,
        subcommands: [GatewayUserAddCommand.self, GatewayUserListCommand.self, GatewayUserRemoveCommand.self])
}

struct GatewayUserAddCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user, and print the user's secret once.",
        discussion: """
            Set the name and the secret as the credentials for the proxy in a browser, a web view or a program. Its \
            requests get the session of the jar. A gateway reads the file when it starts.
            """,
        aliases: ["create"])

    @Option(help: .file("The file with the users. It is created if it does not exist."))
    var users: String

    @Option(name: [.customShort("j"), .customLong("jar")], help: JarOptions.nameHelp, completion: NameCompletion.jars)
    var jar: String?

    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the user: letters, digits, '.', '_' and '-'.")
    var name: String

    func execute(_ console: Console) throws {
        let jar = Locations().jar(jar)
        try GatewayUser.check(name)
        try SessionStoreError.check(jar, of: "jar")
        var generator = SystemRandomNumberGenerator()
        let (secret, hash) = GatewaySecretHash.newSecret(using: &generator)
        try GatewayUsersFile.change(users, creating: true) { known in
            guard !known.contains(where: { $0.name == name }) else {
                throw CommandFailure(
                    .nameInvalid,
                    "\(name): \(users) has a user of this name; remove it with 'crumb gateway user remove', or use another "
                        + "name")
            }
            known.append(GatewayUserDocument(name: name, jar: jar, secretHash: hash.text))
        }
        let text = String(decoding: secret.exposedBytes, as: UTF8.self)
        try console.report(["name": name, "jar": jar, "secret": text]) {
            try console.write(secret.exposedBytes + [UInt8(ascii: "\n")])
        }
    }
}

struct GatewayUserListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users in a file, with their jars.", aliases: ["ls"])

    @Option(help: .file("The file with the users."))
    var users: String

    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let entries = try GatewayUsersFile.users(in: users).sorted { $0.name < $1.name }.map {
            ["name": $0.name, "jar": $0.jar]
        }
        try console.writeTable(
            ["NAME", "JAR"], of: entries, none: "no users; 'crumb gateway user add --users FILE NAME' adds one"
        ) { [$0["name"] ?? "", $0["jar"] ?? ""] }
    }
}

struct GatewayUserRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a user from a file. Gateways that run keep the users that they have started with.",
        aliases: ["rm", "delete"])

    @Option(help: .file("The file with the users."))
    var users: String

    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the user.")
    var name: String

    func execute(_ console: Console) throws {
        try GatewayUsersFile.change(users, creating: false) { known in
            guard let index = known.firstIndex(where: { $0.name == name }) else {
                throw CommandFailure(
                    .nameInvalid,
                    "\(name): \(users) has no user of this name; 'crumb gateway user list --users FILE' lists them")
            }
            known.remove(at: index)
        }
        try console.report(["removed": name], note: "removed user '\(name)'; start the gateway again")
    }
}

/// A file with the users of a gateway: their names, jars and the hashes of their secrets.
enum GatewayUsersFile {
    private struct Contents: Codable {
        var users: [GatewayUserDocument]
    }

    /// The help of the option of a gateway that names such a file.
    static let help = ArgumentHelp.file(
        "Serve only these users, each with a jar, who sign in with the credentials for the proxy: a file of "
            + "'crumb gateway user add'.")

    private static let limit = 1 << 20

    /// The users in a file.
    ///
    /// - Throws: `CommandFailure` if other users of the machine may use the file, who could add themselves.
    static func users(in path: String) throws -> [GatewayUserDocument] {
        let octets = try InputFile(path).contents(limit: limit, otherwise: .inputUnrecognized)
        guard path == "-" || FileSystem.isSpecial(path) || PrivateFile.isPrivate(path) else {
            throw CommandFailure(
                .keyExposed, "\(path): other users of this machine may use this file; run: chmod 600 '\(path)'")
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(octets)) else {
            throw CommandFailure(
                .inputUnrecognized, "\(path): this is not a file with users; 'crumb gateway user add' creates one")
        }
        return contents.users
    }

    /// Changes a file, while no other process changes it.
    ///
    /// - Parameter creating: Whether the file is created if it does not exist.
    static func change(
        _ path: String, creating: Bool, _ body: (inout [GatewayUserDocument]) throws -> Void
    ) throws {
        let lock: FolderLock
        do throws(SystemError) {
            lock = try FolderLock(of: path)
        } catch {
            throw error.number == EWOULDBLOCK
                ? CommandFailure(
                    .fileNotWritten, "\(path): another process is changing a file in this folder; try again")
                : CommandFailure.notWritten(path, error.number)
        }
        try withExtendedLifetime(lock) {
            var contents = Contents(users: creating && FileSystem.isAbsent(path) ? [] : try users(in: path))
            try body(&contents.users)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try PrivateFile.write(Array(try encoder.encode(contents)) + [UInt8(ascii: "\n")], at: path)
        }
    }
}
