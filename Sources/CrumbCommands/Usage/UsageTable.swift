/// Commands and options that people try first, from curl, HTTPie, other cookie jars and services, and Crumb's
/// equivalents.
enum UsageTable {
    /// Words in the place of a command, with the group before them, and the command that does it. Words that follow are
    /// repeated after a command that ends in lower case.
    static let commands: [String: String] = [
        "add": "import FILE", "load": "import", "read": "import", "capture": "import", "fetch": "curl -- URL",
        "request": "curl -- URL", "http": "curl -- URL", "https": "curl -- URL", "wget": "curl -- URL",
        "cookies": "list", "cookie": "list", "print": "list", "dump": "export --format json", "save": "session save",
        "write": "export --format netscape", "inject": "script", "js": "script", "why": "explain", "debug": "explain",
        "inspect": "explain", "jar": "jars", "create": "jars create", "new": "jars create", "clear": "jars clear",
        "empty": "jars clear", "copy": "jars copy", "cp": "jars copy", "merge": "jars merge", "mv": "jars rename",
        "rename": "jars rename", "sessions": "session list", "end": "session end", "tokens": "token list",
        "login": "token login", "logout": "token logout", "auth": "token login", "oauth": "token login",
        "refresh": "token refresh", "keys": "key status", "rotate": "key rotate", "lock": "key passphrase",
        "unlock": "key passphrase --remove", "passphrase": "key passphrase", "server": "serve", "start": "serve",
        "daemon": "serve", "service": "serve", "run": "serve", "web": "serve", "ui": "serve", "history": "changes",
        "log": "changes", "logs": "changes", "journal": "changes", "watch": "changes", "diff": "changes",
        "clean": "prune", "cleanup": "prune", "gc": "prune", "vacuum": "prune --vacuum", "purge": "prune",
        "verify": "check", "doctor": "check", "fsck": "check", "info": "status", "stats": "status",
        "version": "--version", "update": "set", "test": "simulate", "completion": "--generate-completion-script bash",
        "completions": "--generate-completion-script bash",

        "jars add": "jars create", "jars new": "jars create", "jars make": "jars create", "jars mv": "jars rename",
        "jars cp": "jars copy", "jars empty": "jars clear", "jars clean": "jars clear", "jars destroy": "jars remove",
        "jars config": "jars settings", "jars headers": "jars fields", "jars header": "jars fields",
        "jars get": "jars settings", "jars set": "jars settings", "jars undo": "jars restore",
        "jars undelete": "jars restore", "jars recover": "jars restore", "jars bin": "jars list --removed",
        "jars trash": "jars list --removed", "undo": "jars restore", "undelete": "jars restore",
        "jars fields add": "jars fields set", "jars fields get": "jars fields list --values",
        "session create": "session save", "session add": "session save", "session load": "session restore",
        "session use": "session restore", "session clear": "session end", "session quit": "session end",
        "token add": "token import", "token set": "token import", "token create": "token login",
        "token new": "token login", "token print": "token get", "token renew": "token refresh",
        "token forget": "token remove", "token info": "token status",
        "key change": "key rotate", "key new": "key create", "key make": "key create", "key generate": "key create",
        "key remove": "key forget", "key drop": "key forget", "key prune": "key forget", "key lock": "key passphrase",
        "key unlock": "key passphrase --remove", "key password": "key passphrase",
        "serve start": "serve", "serve tokens": "serve token list",
        "serve token add": "serve token create", "serve token new": "serve token create",
        "serve token make": "serve token create", "serve token end": "serve token revoke",
    ]

    /// The advice for a missing argument, by command.
    static let missingArguments: [String: String] = [
        "export": "Name the format to write: `crumb export --format netscape`. Formats: \(exportFormatNames).",
        "convert":
            "Name the format and the captures: `crumb convert --to netscape FILE`. Formats: \(exportFormatNames).",
        "header": "Name the URL of the request: `crumb header https://www.example.com/`.",
        "script": "Name the URL of the page: `crumb script https://www.example.com/`.",
        "plan": "Name the URL of the page: `crumb plan https://www.example.com/`.",
        "explain": "Name the URL of the request: `crumb explain https://www.example.com/`.",
        "get": "Name the cookie and the URL: `crumb get sid https://www.example.com/`. `crumb list` lists the cookies.",
        "set": "Name the URL that sets the cookie: `crumb set https://www.example.com/ < FILE`.",
        "backup": "Name the file to write: `crumb backup FILE`.",
        "restore": "Name the backup: `crumb restore FILE`. `crumb jars restore NAME` restores a jar.",
        "capture-script": "Name the message handler: `crumb capture-script --handler NAME`.",
        "gateway ca create": "Name the hosts: `crumb gateway ca create --host shop.example`.",
        "jars create": "Name the jar: `crumb jars create work`.",
        "jars copy": "Name both jars: `crumb jars copy FROM TO`. `crumb jars` lists them.",
        "jars merge": "Name both jars: `crumb jars merge FROM INTO`. `crumb jars` lists them.",
        "jars rename": "Name the jar and its new name: `crumb jars rename OLD NEW`. `crumb jars` lists the jars.",
        "jars restore":
            "Name the jar: `crumb jars restore NAME`. `crumb jars list --removed` lists what can be restored.",
        "jars clear": "Name the jar: `crumb jars clear NAME`. `crumb jars` lists them.",
        "jars remove": "Name the jar: `crumb jars remove NAME`. `crumb jars` lists them.",
        "jars settings": "Name the jar: `crumb jars settings NAME`. `crumb jars` lists them.",
        "jars fields remove": "Name the header field: `crumb jars fields remove NAME`. `crumb jars fields` lists them.",
        "session save": "Name the saved session: `crumb session save NAME`.",
        "session restore": "Name the saved session: `crumb session restore NAME`. `crumb session list` lists them.",
        "session remove": "Name the saved session: `crumb session remove NAME`. `crumb session list` lists them.",
        "token login": "Name the login: `crumb token login NAME --issuer URL --client-id ID`.",
        "token fallback set":
            "Name the rule, its URLs and the login: `crumb token fallback set NAME URL --profile LOGIN`.",
        "serve token create": "Name the access token: `crumb serve token create NAME --read`.",
        "serve token revoke":
            "Name the access token: `crumb serve token revoke NAME`. `crumb serve token list` lists them.",
    ].merging(
        ["get", "header", "status", "refresh", "revoke", "logout", "introspect", "import", "export", "remove"].map {
            ("token \($0)", "Name the login: `crumb token \($0) NAME`. `crumb token list` lists them.")
        }
    ) { first, _ in first }

    /// The advice for an extra argument, by command.
    static let extraArguments: [String: String] = [
        "list": "`crumb list` takes one domain. `crumb header URL` takes a URL.",
        "header": "`crumb header` takes one URL. Quote a URL that has blanks or `&` in it.",
        "explain": "`crumb explain` takes one URL. Quote a URL that has blanks or `&` in it.",
        "plan": "`crumb plan` takes one URL. Quote a URL that has blanks or `&` in it.",
        "get": "`crumb get` takes a cookie's name and one URL.",
        "set": "`crumb set` takes the URL, and the cookie on standard input: `crumb set URL < FILE`.",
        "remove": "`crumb remove` takes one cookie's name; add --domain, --url or --path.",
        "export": "`crumb export` takes no files: `--output FILE` names the file, `--url URL` the request.",
        "status": "`crumb status` takes no arguments. `crumb token status NAME` shows a login.",
        "backup": "`crumb backup` takes one file.",
        "restore": "`crumb restore` takes one file. `crumb session restore NAME` restores a saved session.",
        "changes": "`crumb changes` takes no arguments: `--jar NAME` names the jar, `--after POSITION` the start.",
        "prune": "`crumb prune` takes no arguments: `--jar NAME` names the jar.",
        "check": "`crumb check` takes no arguments: `--database FILE` names the database.",
        "session end": "`crumb session end` takes no arguments: `--jar NAME` names the jar.",
    ]

    /// The expected value of an option, for one that is missing or cannot be read.
    static let values: [String: String] = [
        "--after": "`--after` takes a position, the first column of `crumb changes`: `crumb changes --after 120`."
    ]

    /// Options that a command does not have, and its equivalents. The first matching rule counts.
    struct OptionRule {
        let names: Set<String>
        /// The commands it is for, by the beginning of their paths; empty for all commands.
        let commands: [String]
        /// The advice. `COMMAND` stands for the command's name, `PORT` for a port that was given, else 8722.
        let text: String

        /// - Parameter names: The options, with blanks between them.
        init(_ names: String, of commands: [String] = [], _ text: String) {
            self.names = Set(names.split(separator: " ").map(String.init))
            (self.commands, self.text) = (commands, text)
        }

        func isFor(_ command: String) -> Bool {
            commands.isEmpty || commands.contains { command == $0 || command.hasPrefix("\($0) ") }
        }

        func advice(command: String, value: String?) -> String {
            let port = value.flatMap { UInt16($0) }.map(String.init) ?? "8722"
            return text.replacing("COMMAND", with: command).replacing("PORT", with: port)
        }
    }

    private static let forURL = ["header", "script", "explain", "get", "set", "plan", "curl"]

    static let options: [OptionRule] = [
        OptionRule("--ttl --expires-in --expiry --valid --lifetime", of: ["serve token"], "Use `--expires 30d`."),
        OptionRule(
            "--scope --permission --permissions --role --verbs --admin", of: ["serve token"],
            "Use `--read`, `--write` and `--secrets`."),
        OptionRule(
            "--port -p --bind --address --addr --interface -l -P", of: ["serve"],
            "Use `--listen 127.0.0.1:PORT`."),
        OptionRule("--unix-socket --unix --sock", of: ["serve"], "Use `--socket PATH`."),
        OptionRule(
            "--cert --tls-cert --ssl-cert --certfile --tls", of: ["serve"],
            "Use `--certificate FILE --private-key FILE`."),
        OptionRule(
            "--key --tls-key --ssl-key --keyfile --key-file", of: ["serve"],
            "Use `--private-key FILE` for TLS; CRUMB_KEY_FILE names the key of the database."),
        OptionRule(
            "--token", of: ["serve"],
            "Use `--token-file FILE`; `crumb serve token create` creates more tokens."),
        OptionRule("--config-file -c --settings", of: ["serve"], "Use `--config FILE`."),
        OptionRule(
            "--daemon -d --detach --background --foreground", of: ["serve"],
            "Leave it out: `crumb serve` runs in the foreground; systemd runs it in the background."),
        OptionRule("--verbose -v --debug", of: ["serve"], "Use `--log-level debug`."),

        OptionRule("--url -u", of: forURL, "Give the URL as an argument: `crumb COMMAND URL`."),
        OptionRule(
            "--domain --host --site -d", of: ["list"],
            "Give the domain as an argument: `crumb list example.com`."),
        OptionRule("--domain --host -d", of: ["export", "convert"], "Use `--site example.com`."),
        OptionRule("--site --host -d", of: ["remove"], "Use `--domain example.com`."),
        OptionRule(
            "--name -n", of: ["get", "remove", "jars", "session", "token", "serve"],
            "Give the name as an argument: `crumb COMMAND NAME`."),
        OptionRule(
            "--jar -j", of: ["jars list"],
            "`crumb jars list` lists all jars; `crumb list --jar NAME` lists the cookies of one."),
        OptionRule("--jar -j", of: ["jars"], "Give the jar's name as an argument: `crumb COMMAND NAME`."),
        OptionRule(
            "--name -n --cookie", of: ["explain"],
            "Leave it out: `crumb explain URL` explains every cookie of the URL's site."),
        OptionRule("--name -n", of: ["list"], "`crumb list` takes a domain; `crumb get NAME URL` prints one cookie."),
        OptionRule(
            "--since --from --start --position", of: ["changes"],
            "Use `--after POSITION`, with the first column of `crumb changes`."),
        OptionRule("--all -a", of: ["remove"], "Use `crumb jars clear NAME`."),
        OptionRule(
            "--value --cookie -b", of: ["set"],
            "The cookie comes from standard input, since others can see arguments: `crumb set URL < FILE`."),
        OptionRule(
            "--file --input --in -i --har", of: ["import", "convert", "simulate", "set", "restore", "backup"],
            "Give the file as an argument: `crumb COMMAND FILE`."),
        OptionRule("--output -o --out", of: ["backup"], "Give the file as an argument: `crumb backup FILE`."),
        OptionRule(
            "--output -o --out -O",
            of: ["header", "script", "list", "get", "plan", "explain", "changes", "capture-script"],
            "Redirect standard output: `crumb COMMAND > FILE`."),
        OptionRule("--out --file -O", of: ["export", "convert"], "Use `--output FILE`."),
        OptionRule("--to --type --as", of: ["export"], "Use `--format NAME`."),
        OptionRule(
            "--format -f --type", of: ["convert"],
            "Use `--to NAME` for the format to write, `--from NAME` for the format of the captures."),
        OptionRule("--from --type -f", of: ["import"], "Use `--format NAME`."),
        OptionRule("--chrome --firefox --edge --browsers", of: ["import", "convert"], "Use `--browser NAME`."),
        OptionRule("--show-values --reveal --secrets --show-secrets", of: ["list", "jars fields"], "Use `--values`."),

        OptionRule(
            "--passphrase --password --pass",
            "Secrets are never arguments, which others can see: CRUMB_PASSPHRASE_FILE names the passphrase's file."),
        OptionRule(
            "--client-secret --secret",
            "Secrets are never arguments, which others can see: use `--client-secret-file FILE`."),
        OptionRule(
            "--token --access-token --bearer --service-token",
            "Secrets are never arguments, which others can see: use `--service-token-file FILE`."),
        OptionRule("--server --remote --api", "Use `--service URL`."),
        OptionRule("--db --db-path --sqlite --database-file --store", "Use `--database FILE`."),
        OptionRule(
            "--session --session-read-only --profile --account --jar-name",
            of: ["import", "export", "header", "script", "list", "explain", "curl", "get", "set", "remove", "plan"],
            "Use `--jar NAME`."),
        OptionRule(
            "--cookie-jar -c --cookie --cookies -b --load-cookies --save-cookies",
            "Crumb keeps cookies in jars: `crumb import FILE` reads a cookie file, `--jar NAME` names the jar, "
                + "`crumb export --format netscape` writes one."),
        OptionRule(
            "--yes -y --force -f --assume-yes --no-input",
            "Leave it out: `crumb COMMAND` asks for no confirmation."),
        OptionRule("--silent -s", "Use `--quiet`."),
        OptionRule(
            "--verbose -v -vv --debug",
            "Leave it out: `--json` prints every detail, `crumb explain URL` the reasons."),
        OptionRule("-V", "Use `crumb --version`."),
    ]
}
