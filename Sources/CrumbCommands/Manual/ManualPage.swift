import SessionOperations

/// A page for `man`, written with the macros of man(7).
struct ManualPage {
    /// The source so far.
    private var text = ""

    /// The page of the program: its commands, variables, files and exit statuses.
    static func overview(of root: CommandDescription) -> String {
        var page = ManualPage(named: "crumb", abstract: root.abstract ?? "")
        page.section("SYNOPSIS")
        page.line("\\fBcrumb\\fR \\fIcommand\\fR [\\fIoption\\fR ...] [\\fIargument\\fR ...]")
        page.section("DESCRIPTION")
        page.discussion(of: root)
        page.section("COMMANDS")
        for command in root.visibleCommands {
            page.item("\\fBcrumb\\-\(escaped(command.commandName))\\fR(1)", command.abstract ?? "")
        }
        page.section("OPTIONS")
        page.options(root.visibleArguments)
        page.section("ENVIRONMENT")
        for (name, meaning) in ManualPage.variables { page.item("\\fB\(escaped(name))\\fR", meaning) }
        page.section("FILES")
        for (path, meaning) in ManualPage.files { page.item("\\fI\(escaped(path))\\fR", meaning) }
        page.section("EXIT STATUS")
        for failure in FailureKind.exitStatuses { page.item("\\fB\(failure.exitStatus)\\fR", failure.code) }
        page.item("\\fB64\\fR", "usage: the command line is wrong")
        page.section("SEE ALSO")
        page.references(root.visibleCommands.map { "crumb-\($0.commandName)" } + ["curl"])
        return page.text
    }

    /// The page of a command, with the commands below it.
    static func page(of command: CommandDescription) -> String {
        var page = ManualPage(named: command.fullName.replacing(" ", with: "-"), abstract: command.abstract ?? "")
        let leaves = command.leaves
        page.section("SYNOPSIS")
        for (index, leaf) in leaves.enumerated() {
            if index > 0 { page.line(".br") }
            page.line(synopsis(of: leaf))
        }
        page.section("DESCRIPTION")
        page.paragraph(sentence(command.abstract ?? ""))
        page.discussion(of: command)
        page.aliases(of: command)
        // Arguments that all commands of a group share are listed once.
        let shared = leaves.dropFirst().reduce(leaves[0].visibleArguments) { shared, leaf in
            let arguments = Set(leaf.visibleArguments)
            return shared.filter(arguments.contains)
        }
        if leaves.count > 1 {
            page.section("COMMANDS")
            for leaf in leaves {
                page.line(".SS \"\(escaped(leaf.fullName))\"")
                page.paragraph(sentence(leaf.abstract ?? ""))
                page.discussion(of: leaf)
                page.aliases(of: leaf)
                page.options(leaf.visibleArguments.filter { !shared.contains($0) })
            }
        }
        page.section("OPTIONS")
        if leaves.count > 1 { page.paragraph("Each of these commands takes:") }
        page.options(shared)
        page.section("EXIT STATUS")
        page.paragraph("0 on success; \\fBcrumb\\fR(1) lists the others.", isSource: true)
        page.section("SEE ALSO")
        page.references(["crumb"])
        return page.text
    }

    // MARK: - Parts

    private init(named name: String, abstract: String) {
        line(".TH \"\(ManualPage.escaped(name.uppercased()))\" 1 \"\" \"crumb \(Crumb.version)\" \"Crumb manual\"")
        // Options and commands are copied: no hyphenation, no stretched blanks.
        line(".nh")
        line(".ad l")
        section("NAME")
        let title = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        line("\(ManualPage.escaped(name)) \\- \(ManualPage.escaped(title))")
    }

    private mutating func line(_ source: String) {
        text += source + "\n"
    }

    private mutating func section(_ title: String) {
        line(".SH \(title)")
    }

    private mutating func paragraph(_ words: String, isSource: Bool = false) {
        line(".PP")
        line(isSource ? words : ManualPage.escaped(words))
    }

    /// A term with its explanation; `term` is source already.
    private mutating func item(_ term: String, _ words: String) {
        line(".TP")
        line(term)
        line(ManualPage.escaped(words))
    }

    /// Paragraphs as they are; examples and tables, which have several lines or are a command, line by line.
    private mutating func discussion(of command: CommandDescription) {
        for block in (command.discussion ?? "").split(separator: "\n\n") {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.count > 1 || block.hasPrefix(" ") || block.hasPrefix("crumb ") else {
                paragraph(String(block))
                continue
            }
            line(".PP")
            line(".RS 4")
            line(".nf")
            for part in lines { line(ManualPage.escaped(String(part))) }
            line(".fi")
            line(".RE")
        }
    }

    private mutating func aliases(of command: CommandDescription) {
        guard let aliases = command.aliases, !aliases.isEmpty else { return }
        paragraph("Also: \(aliases.joined(separator: ", ")).")
    }

    private mutating func options(_ arguments: [CommandDescription.Argument]) {
        for argument in arguments {
            line(".TP")
            line(ManualPage.term(of: argument))
            var words = argument.abstract ?? ""
            if let more = argument.discussion, !more.isEmpty { words += " \(more)" }
            if let value = argument.defaultValue, !value.isEmpty, argument.kind != "flag" {
                words += " (default: \(value))"
            }
            line(ManualPage.escaped(String(words.drop { $0 == " " })))
        }
    }

    private mutating func references(_ names: [String]) {
        line(names.map { "\\fB\(ManualPage.escaped($0))\\fR(1)" }.joined(separator: ",\n"))
    }

    private static func term(of argument: CommandDescription.Argument) -> String {
        let value = "\\fI\(escaped(argument.valueName ?? "value"))\\fR"
        if argument.isPositional { return argument.isRepeating ? "\(value) ..." : value }
        let names = (argument.names ?? []).map { "\\fB\(escaped($0.spelled))\\fR" }.joined(separator: ", ")
        return argument.kind == "option" ? "\(names) \(value)" : names
    }

    private static func synopsis(of command: CommandDescription) -> String {
        var words = ["\\fB\(escaped(command.fullName))\\fR", "[\\fIoptions\\fR]"]
        for argument in command.visibleArguments {
            let term = term(of: argument)
            if argument.isPositional {
                words.append(argument.isOptional ? "[\(term)]" : term)
            } else if !argument.isOptional, argument.kind == "option" {
                words.append(term)
            }
        }
        return words.joined(separator: " ")
    }

    private static func sentence(_ text: String) -> String {
        text.isEmpty || text.hasSuffix(".") ? text : text + "."
    }

    private static let escapes: [Unicode.Scalar: String] = [
        "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "\"": "\\(dq",
    ]

    /// Escapes text for the source of a page: nothing in it is a request or an escape, and text copied from the page is
    /// unchanged.
    static func escaped(_ text: String) -> String {
        var source = ""
        for scalar in text.unicodeScalars {
            if let escape = escapes[scalar] {
                source += escape
            } else if scalar.isASCII {
                source.unicodeScalars.append(scalar)
            } else {
                let code = String(scalar.value, radix: 16, uppercase: true)
                source += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
            }
        }
        return source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") ? "\\&\($0)" : String($0) }.joined(separator: "\n")
    }

    // MARK: - Sections that no command's help has

    /// The variables of the environment that commands read.
    static let variables: [(name: String, meaning: String)] = [
        ("CRUMB_DATABASE", "The database file."),
        ("CRUMB_JAR", "The jar that commands with --jar use unless they name one."),
        ("CRUMB_LOGIN", "The login that commands of crumb token use unless they name one."),
        ("CRUMB_KEY", "The key of the database, 32 bytes in base64; it takes precedence over the key file."),
        ("CRUMB_KEY_FILE", "The key file."),
        ("CRUMB_PASSPHRASE_FILE", "The file with the passphrase that unlocks the key file."),
        ("CRUMB_SERVICE", "The running service to use in place of a file."),
        ("CRUMB_SERVICE_CA", "The file with the certificate authority of that service."),
        ("CRUMB_SERVICE_TOKEN_FILE", "The file with the access token for that service."),
        ("CRUMB_PUBLIC_SUFFIX_LIST", "A newer public suffix list than the built-in one."),
        ("CRUMB_REFRESH_TIMEOUT_SECONDS", "How many seconds to wait for the response to the renewal of a login."),
        ("CRUMB_PROXY", "The proxy for requests to authorization servers, as --proxy names it."),
        ("CRUMB_PROXY_CREDENTIALS_FILE", "The file with the user name and the password for that proxy."),
        ("CRUMB_CA_FILE", "The file with further certificate authorities for those requests."),
        ("CRUMB_CLIENT_SECRET", "The client secret for crumb token login."),
        ("CRUMB_BROWSER_PASSWORD", "The password that Chromium encrypts its cookies with."),
        ("CRUMB_FIELD_VALUE", "The value for crumb jars fields set."),
        (
            "BROWSER",
            "The browsers for crumb token login: commands separated by colons, with %s for the page."
        ),
        ("NO_COLOR", "Print without color."),
        ("XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR", "Where the database, the key file and the socket lie."),
    ]

    private static let files: [(path: String, meaning: String)] = [
        ("~/.local/share/crumb/crumb.sqlite", "The database."),
        ("~/.config/crumb/key", "The key that every value in the database is sealed under. Back it up."),
        ("~/.config/crumb/login", "The name of the login that crumb token switch has chosen."),
        ("$XDG_RUNTIME_DIR/crumb/crumb.sock", "The socket of crumb serve."),
    ]
}
