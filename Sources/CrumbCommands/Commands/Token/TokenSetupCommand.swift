import ArgumentParser
import Platform
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct TokenSetupCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Print or write the configuration with which git, kubectl or docker ask for a login's tokens.",
        discussion: """
            crumb token setup git --host git.example --login work --write
            crumb token setup docker --host registry.example --login work --write
            crumb token setup kubectl --login work --write

            Without --write, prints what would be done: commands for a shell, or files and their contents. Neither holds a \
            secret. Writing twice changes nothing more. Another helper or program in the same place is reported \
            and stays, unless --force replaces it.
            """)

    enum Tool: String, CaseIterable, ExpressibleByArgument {
        case git
        case docker
        case kubectl
    }

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The host, with its port if it has one, that git or docker get the token for.")
    var host: String?

    @Option(help: "The name of the login. Default: the one that is in use when the program asks. Required for kubectl.")
    var login: String?

    @Option(help: "The user name that git and docker get. Default: oauth2.")
    var username: String?

    @Option(help: "The name of the user in the kubeconfig. Default: that of the login.")
    var user: String?

    @Flag(help: "Give kubectl the access token instead of the ID token.")
    var useAccessToken = false

    @Option(help: "The folder, on PATH, for the program that docker runs. Default: ~/.local/bin.")
    var folder: String?

    @Flag(help: "Write the configuration.")
    var write = false

    @Flag(help: "Replace what another program has set up in the same place.")
    var force = false

    @Argument(help: "The program to set up: git, docker or kubectl.")
    var tool: Tool

    func validate() throws {
        if tool == .kubectl {
            guard login != nil else { throw ValidationError("setup kubectl: add --login.") }
            guard host == nil, username == nil else {
                throw ValidationError("--host and --username are for git and docker.")
            }
            return
        }
        guard let host else { throw ValidationError("setup \(tool.rawValue): add --host.") }
        try CredentialPlaceOptions.check(host: host, username: username ?? "oauth2")
        guard user == nil, !useAccessToken else {
            throw ValidationError("--user and --use-access-token are for kubectl.")
        }
    }

    func execute(_ console: Console) throws {
        // A mistyped name would be noticed when the program asks, and not understood.
        if let login { _ = try database.place(now: console.now).tokenStatus(of: login) }
        let steps = try steps()
        if write, !force, let conflict = steps.lazy.compactMap(\.conflict).first {
            throw CommandFailure(.fileExists, "\(conflict); nothing was changed. To replace it, use --force")
        }
        if output.json {
            for step in steps { try console.writeJSON(step) }
        } else if !write {
            for step in steps { try console.writeLine(step.text) }
        }
        guard write else { return }
        for step in steps { try step.carryOut() }
        console.note("\(tool.rawValue): set up\(host.map { " for \($0)" } ?? "")")
        if tool == .docker, !isOnPath(try programFolder()) {
            console.error("\(try programFolder()): docker finds programs on PATH only; add this folder to it")
        }
    }

    private func steps() throws -> [SetupStep] {
        switch tool {
        case .git:
            let host = host ?? ""
            let isLocal = ["localhost", "127.0.0.1"].contains(host.prefix { $0 != ":" })
            let key = "credential.\(isLocal ? "http" : "https")://\(host).helper"
            let helper = "!" + ShellWord.line(helper(.git))
            // The empty one in front keeps the token from helpers that store passwords.
            return [
                .command(["git", "config", "--global", "--replace-all", key, ""]),
                .command(["git", "config", "--global", "--add", key, helper]),
            ]
        case .docker:
            let name = "crumb-\((host ?? "").replacing(":", with: "_"))"
            let words = ShellWord.line(helper(.docker))
            return [
                .program(
                    file: "\(try programFolder())/docker-credential-\(name)",
                    contents: "#!/bin/sh\nexec \(words) \"$@\"\n"),
                .member(file: try dockerConfiguration(), object: "credHelpers", key: host ?? "", value: name),
            ]
        case .kubectl:
            let login = login ?? ""
            var words = [program, "token", "export", "--format", "kubernetes"] + place
            if useAccessToken { words.append("--use-access-token") }
            words += [login]
            // Every kubectl since 1.11 accepts v1beta1.
            let entry = ["--exec-api-version=client.authentication.k8s.io/v1beta1", "--exec-command=\(words[0])"]
            return [
                .command(
                    ["kubectl", "config", "set-credentials", user ?? login] + entry
                        + words.dropFirst().map { "--exec-arg=\($0)" })
            ]
        }
    }

    /// How the program runs this one as its helper.
    private func helper(_ tool: TokenHelperCommand.Tool) -> [String] {
        var words = [program, "token", "helper", tool.rawValue, "--host", host ?? ""] + place
        if let login { words += ["--login", login] }
        if let username { words += ["--username", username] }
        return words
    }

    /// This program: its name if that is enough to find it.
    private var program: String {
        let own = ProgramReplacement.ownPath ?? "crumb"
        let isFound = ChildProcess.pathOfProgram("crumb").map { FileSystem.isSame($0, own) } ?? false
        return isFound ? "crumb" : own
    }

    /// The options that name the place of the login, if they were given.
    private var place: [String] { database.optionWords(absolute) }

    private func programFolder() throws -> String {
        try folder.map(absolute) ?? "\(Locations().home())/.local/bin"
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    private func isOnPath(_ folder: String) -> Bool {
        let folders = (ProcessEnvironment.variables["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileSystem.isSame(String($0), folder) }
    }

    private func dockerConfiguration() throws -> String {
        let environment = ProcessEnvironment.variables
        if let folder = environment["DOCKER_CONFIG"], folder.hasPrefix("/") { return "\(folder)/config.json" }
        return "\(try Locations().home())/.docker/config.json"
    }
}
