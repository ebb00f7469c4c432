import ArgumentParser
import CookieModel
import OAuth2
import RequestDecoration
import SessionClient
import SessionOperations

struct JarsFieldsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields",
        abstract: "Manage header fields that the requests of a jar carry, such as an API key or a User-Agent.",
        subcommands: [JarsFieldsSetCommand.self, JarsFieldsListCommand.self, JarsFieldsRemoveCommand.self],
        defaultSubcommand: JarsFieldsListCommand.self)
}

struct JarsFieldsSetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a header field in a jar; replaces the one of the same name and scope.",
        discussion: """
            crumb jars fields set X-API-Key --scope https://api.example/v2 < key
            crumb jars fields set --user-agent 'Example/1.0'

            The value comes from a file, from the variable CRUMB_FIELD_VALUE, or from standard input, never from the \
            command line, which others can see. 'crumb curl', 'crumb header --fields' and the service send the field \
            unless the request already has it.
            """)

    /// Longer than any stored value, with the white space that may follow it.
    private static let inputLimit = 1 << 17

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("url", "Send the field only to URLs that begin with this."))
    var scope: String?

    @Flag(
        name: .customLong("all-urls"), help: "Send the field to every URL. Never use it for a secret.")
    var allURLs = false

    @Option(
        help: .file("The file with the value; '-' is standard input. Default: CRUMB_FIELD_VALUE, else standard input."))
    var valueFile: String?

    @Option(help: .value("text", "Store this User-Agent, for every URL unless --scope is given."))
    var userAgent: String?

    @Argument(help: "The name of the field.")
    var name: String?

    func validate() throws {
        guard (name == nil) != (userAgent == nil) else {
            throw ValidationError("Name the field, or use --user-agent.")
        }
        if userAgent != nil {
            guard valueFile == nil, !allURLs else {
                throw ValidationError("--user-agent takes the value itself: leave out --value-file and --all-urls.")
            }
        } else if (scope == nil) != allURLs {
            throw ValidationError("Use --scope URL for a secret, or --all-urls for a field that every site may see.")
        }
    }

    /// A service is asked after standard input was read.
    var needsNetwork: Bool { jar.databaseOptions.asksService }

    func execute(_ console: Console) throws {
        let rule = try FieldRule(
            name: name ?? "User-Agent", value: try value(), scope: try scope.map { URLScope(try requestURL($0)) })
        let document = HeaderFieldSettingDocument(scope: rule.scope?.description, valueBase64: rule.value.base64)
        let report = try jar.place(now: console.now).performCreatingJar(
            .setHeaderField(rule.name, document, of: jar.jar), by: .setHeaderField)
        try console.report(report, note: "stored header field \(report.name) for \(report.place)")
    }

    private func value() throws -> Secret {
        if let userAgent { return Secret(userAgent) }
        if valueFile == nil, let secret = SecretVariable.fieldValue.secret { return secret }
        var bytes = try InputFile(valueFile ?? "-").contents(limit: Self.inputLimit, otherwise: .lineTooLong)
        while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
        return Secret(bytes)
    }
}

struct JarsFieldsListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the header fields of a jar. Shows values only with --values.",
        aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show the values.")
    var values = false

    func execute(_ console: Console) throws {
        let list = try jar.place(now: console.now).performIfThere(
            .headerFields(of: jar.jar, showingValues: values), by: .listHeaderFields)
        let fields = list?.fields ?? []
        try console.writeTable(
            ["NAME", "SCOPE"] + (values ? ["VALUE"] : []), of: fields, none: "no header fields in jar '\(jar.jar)'"
        ) { field in
            let value = field.isDamaged == true ? "" : field.octets.description
            return [field.name, field.place] + (values ? [value] : [])
        }
        try console.reportDamage(fields.filter { $0.isDamaged == true }.map(\.damageLine))
    }
}

struct JarsFieldsRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a header field from a jar.", aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("url", "Remove the field of this scope. Default: the field for all URLs."))
    var scope: String?

    @Argument(help: "The name of the field.")
    var name: String

    func execute(_ console: Console) throws {
        let scope = try scope.map { URLScope(try requestURL($0)) }
        let jarPlace = try jar.place(now: console.now)
        // No field has an empty name, and no path of a service has one.
        let request = SessionRequest.removeHeaderField(name, scope: scope?.description, of: jar.jar)
        let removed =
            try name.isEmpty
            ? nil
            : ifFound(.fieldNotFound) {
                try jarPlace.performIfThere(request, by: .removeHeaderField)
            }
        guard let removed else {
            let place = scope?.description ?? "all URLs"
            throw CommandFailure(
                .fieldNotFound,
                "\(name): the jar has no such header field for \(place); 'crumb jars fields' lists them with their scopes. "
                    + "Use --scope URL for a field that has one.")
        }
        try console.report(removed, note: "removed header field \(removed.name) for \(removed.place)")
    }
}

extension HeaderFieldReport {
    /// The message for a field whose stored value cannot be read.
    var damageLine: String {
        "header field \(name) for \(place): the stored value was changed or damaged; set it again"
    }
}
