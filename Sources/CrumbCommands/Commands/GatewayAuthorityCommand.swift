import ArgumentParser
import CookieModel
import GatewayModel
import Platform
import SessionOperations
import SessionStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GatewayAuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Create, show, export and remove the certificate authority of the gateway.",
        subcommands: [
            GatewayAuthorityCreateCommand.self, GatewayAuthorityShowCommand.self, GatewayAuthorityExportCommand.self,
            GatewayAuthorityRemoveCommand.self,
        ])
}

/// The file for the certificate that the clients of a gateway have to trust.
struct AuthorityFile: Sendable {
    private let path: String
    /// The option that named it.
    private let option: String
    /// The file's certificate; empty if the file does not exist or is empty.
    private let present: [UInt8]

    /// Reads the file, before a gateway is started.
    ///
    /// - Parameters:
    ///   - path: The value of `option`. If both are `nil`, there is no such file.
    ///   - former: The value of `--authority-file`, the former name of `option`.
    /// - Throws: `CommandFailure` if it holds something other than a certificate, which must not be lost.
    init?(_ path: String?, _ option: String, former: String?) throws {
        guard let path = path ?? former else { return nil }
        (self.path, self.option) = (path, option)
        let isThere = FileManager.default.fileExists(atPath: path)
        let contents = isThere && FileSystem.isRegular(path) ? try? FileSystem.contents(path, limit: 1 << 16) : nil
        let isCertificate = contents?.starts(with: "-----BEGIN CERTIFICATE-----".utf8) == true
        guard !isThere || contents?.isEmpty == true || isCertificate else {
            throw CommandFailure(
                .fileExists, "\(option) \(path): there is something other than a certificate. Name another file.")
        }
        present = contents ?? []
    }

    /// Writes a certificate, in the place of the one of an earlier run.
    func replace(by certificate: String) throws {
        try PrivateFile.write(Array(certificate.utf8), at: path)
    }

    /// Writes the certificate of a gateway that runs, unless the file has it.
    ///
    /// - Parameter name: The name of the gateway.
    /// - Throws: `CommandFailure` if the file has another certificate, which other clients may trust.
    func create(_ certificate: String, for name: String) throws {
        guard present != Array(certificate.utf8) else { return }
        guard present.isEmpty else {
            throw CommandFailure(
                .fileExists,
                "\(option) \(path): there is the certificate of another authority. The gateway '\(name)' runs: "
                    + "name another file, or remove this one, and start it again to get its certificate.")
        }
        try replace(by: certificate)
    }
}

struct GatewayAuthorityCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create the authority that 'crumb gateway run --intercept' uses, for named hosts.",
        discussion: """
            Clients that trust its certificate accept it for these hosts and their subdomains, and for no others. It is \
            valid for a year. The private key is sealed in the database and never leaves it. A database has one authority.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("name", "A host that the authority is for, subdomains included. Repeatable."))
    var host: [String]

    func execute(_ console: Console) throws {
        var hosts: [WebHost] = []
        for text in host {
            let name = try HostPattern.interceptedHost(text, of: "--host")
            if !hosts.contains(name) { hosts.append(name) }
        }
        let authority = try Network.required().createAuthority(hosts, console.now)
        try database.openAnywhere(creating: true, now: console.now)?.addAuthority(authority)
        let report = AuthorityReport(authority)
        try console.report(report) {
            try console.writeLine(report.text)
            console.note("'crumb gateway ca export --output FILE' writes the certificate that clients have to trust")
        }
    }
}

struct GatewayAuthorityShowCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the authority's hosts, validity and SHA-256 fingerprint.")

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let authority = try database.authority(now: console.now)
        let report = AuthorityReport(authority)
        try console.report(report, line: report.text)
        if authority.isExpired(at: console.now) {
            console.note("the authority has expired: \(authority.replacement(for: authority.hosts))")
        }
    }
}

struct GatewayAuthorityExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the authority's certificate in PEM, for clients that are to trust it.",
        discussion: "The private key stays in the database.")

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: [.customShort("o"), .customLong("output")], help: .file("The file to write. Default: standard output."))
    var file: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    func execute(_ console: Console) throws {
        let certificate = try database.authority(now: console.now).certificatePEM
        let destination = try ExportDestination(
            file ?? "-", replaces: force, sparing: try database.ownFiles(), console: console)
        if destination.file == nil, output.json { return try console.writeJSON(["certificate": certificate]) }
        destination.bytes = Array(certificate.utf8)
        try destination.finish()
        guard let written = destination.file else { return }
        try console.report(["output": written], note: "\(written): the certificate of the gateway's authority")
    }
}

struct GatewayAuthorityRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove the authority with its private key.", aliases: ["rm", "delete"])

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        guard try database.openAnywhere(creating: false, now: console.now)?.removeAuthority() == true else {
            throw try database.noAuthority()
        }
        try console.report(
            ["removed": true],
            note: "removed the gateway's authority; clients that trust its certificate no longer need it")
    }
}

/// The properties of an authority, without its key.
private struct AuthorityReport: Encodable {
    let hosts: [String]
    let created: String
    let expires: String
    /// The SHA-256 fingerprint of the certificate.
    let fingerprint: String

    init(_ authority: StoredAuthority) {
        hosts = authority.hosts.map(\.description)
        created = authority.creation.rfc3339
        expires = authority.expiry.rfc3339
        fingerprint = authority.fingerprint
    }

    var text: String {
        Console.table([
            ["hosts", hosts.joined(separator: ", ")], ["created", created], ["expires", expires],
            ["SHA-256", fingerprint],
        ])
    }
}

extension DatabaseChoice {
    /// The authority of the database.
    ///
    /// - Throws: `CommandFailure` if the database has no authority.
    fileprivate func authority(now: Timestamp) throws -> StoredAuthority {
        guard let authority = try openAnywhere(creating: false, now: now)?.authority() else { throw try noAuthority() }
        return authority
    }

    fileprivate func noAuthority() throws -> CommandFailure {
        CommandFailure(advising: .authorityNotFound, "\(try name()): the database has no authority for the gateway")
    }
}
