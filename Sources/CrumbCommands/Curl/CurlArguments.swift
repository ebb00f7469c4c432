import SessionOperations
import WebPrimitives

/// Reads curl's command line, and the files that it names options in, as curl does.
struct CurlArguments {
    private let table: CurlOptionTable
    /// Reads a file that an argument names, `-` being standard input.
    private let contents: (String) throws -> [UInt8]
    /// The options, in order; a URL is the value of `url`.
    private(set) var options: [CurlOption] = []

    /// - Parameters:
    ///   - defaults: the user's `.curlrc`, if there is one; not read if the first word is `-q`.
    init(
        _ words: [[UInt8]], defaults: String?, table: CurlOptionTable, contents: @escaping (String) throws -> [UInt8]
    ) throws {
        self.table = table
        self.contents = contents
        try take(words)
        if let defaults, try !CurlArguments.isDisabled(words, table) {
            let given = options
            options = []
            try takeConfiguration(defaults)
            options += given
        }
    }

    /// curl heeds `-q` as the very first only.
    private static func isDisabled(_ words: [[UInt8]], _ table: CurlOptionTable) throws -> Bool {
        guard let first = words.first, first.first == UInt8(ascii: "-") else { return false }
        if first.starts(with: Array("--".utf8)) {
            return table.entry(String(decoding: first.dropFirst(2), as: UTF8.self))?.entry.name == "disable"
        }
        for letter in first.dropFirst() {
            guard let entry = table[letter: letter] else { return false }
            if entry.name == "disable" { return true }
            if entry.takesValue { return false }
        }
        return false
    }

    private mutating func take(_ words: [[UInt8]]) throws {
        var rest = words[...]
        var readsOptions = true
        while let word = rest.popFirst() {
            if !readsOptions || word.first != UInt8(ascii: "-") {
                options.append(CurlOption(name: "url", value: word))
            } else if word == Array("--".utf8) {
                readsOptions = false
            } else {
                try take(option: word, isPrivate: false) { rest.popFirst() }
            }
        }
    }

    /// One word with dashes: a long option, or a run of letters of which the last may take the rest as its value.
    private mutating func take(option word: [UInt8], isPrivate: Bool, next: () -> [UInt8]?) throws {
        let spelling = String(decoding: word, as: UTF8.self)
        if word.starts(with: Array("--".utf8)) {
            guard let (entry, isOn) = table.entry(String(spelling.dropFirst(2))), isOn || !entry.takesValue else {
                throw unknown(spelling)
            }
            let value = entry.takesValue ? try needed(next(), spelling) : nil
            return try add(CurlOption(name: entry.name, isOn: isOn, value: value, isPrivate: isPrivate))
        }
        var letters = word.dropFirst()
        if letters.isEmpty { throw unknown(spelling) }
        while let letter = letters.popFirst() {
            guard let entry = table[letter: letter] else { throw unknown(spelling) }
            if entry.takesValue {
                let value = letters.isEmpty ? try needed(next(), spelling) : Array(letters)
                return try add(CurlOption(name: entry.name, value: value, isPrivate: isPrivate))
            }
            try add(CurlOption(name: entry.name, isOn: !entry.isShownOff, isPrivate: isPrivate))
        }
    }

    private mutating func takeConfiguration(_ file: String) throws {
        for line in CurlConfiguration.lines(try contents(file)) {
            let hasDash = line.option.first == UInt8(ascii: "-")
            do {
                try take(option: hasDash ? line.option : Array("--".utf8) + line.option, isPrivate: true) { line.value }
            } catch let problem as CommandFailure {
                throw CommandFailure(problem.failure, "\(file): \(problem.message)")
            }
        }
    }

    private mutating func add(_ option: CurlOption) throws {
        let file = option.value.flatMap { value in
            value.first == UInt8(ascii: "@") ? String(decoding: value.dropFirst(), as: UTF8.self) : nil
        }
        switch option.name {
        case "config":
            guard !option.isPrivate else {
                throw CommandFailure(.curlArgumentsUnsupported, "nested configuration files are not supported")
            }
            try takeConfiguration(String(decoding: option.value ?? [], as: UTF8.self))
        case "header" where file != nil:
            for line in try contents(file ?? "-").split(separator: UInt8(ascii: "\n")) {
                let end = line.lastIndex { !InputFile.isWhiteSpace($0) }
                guard let end else { continue }
                options.append(CurlOption(name: "header", value: Array(line[...end]), isPrivate: true))
            }
        case "write-out" where file != nil:
            // curl leaves line ends out, so that a long format can be broken into lines.
            let format = try contents(file ?? "-").filter { $0 != 0x0A && $0 != 0x0D }
            options.append(CurlOption(name: "write-out", value: format))
        default:
            options.append(option)
        }
    }

    private func needed(_ value: [UInt8]?, _ spelling: String) throws -> [UInt8] {
        guard let value else { throw CommandFailure(.curlArgumentsUnsupported, "\(spelling): the value is missing") }
        return value
    }

    private func unknown(_ spelling: String) -> CommandFailure {
        CommandFailure(
            .curlArgumentsUnsupported,
            "\(spelling): the installed curl does not list this option in 'curl --help all'. Put crumb's own options "
                + "before curl's arguments.")
    }
}

/// The URL of the first request: as the user wrote it, for curl, and parsed, for the rules.
struct CurlTarget {
    /// The text that curl is given.
    let text: [UInt8]
    /// The URL that the rules use.
    let url: RequestURL
    /// User name and password before the host, with their `@`; empty without them. They stay as long as the
    /// redirects stay within the origin.
    let userInfo: [UInt8]
    /// The file name of `--remote-name`, which redirects do not change.
    let remoteName: [UInt8]

    /// - Parameters:
    ///   - defaultScheme: the value of `--proto-default`.
    ///   - upload: the file of `--upload-file`. If the URL's path ends with a slash, curl appends the file's name.
    init(_ text: [UInt8], defaultScheme: [UInt8]?, upload: [UInt8]?) throws {
        self.text = text
        // No message shows a password.
        let shown = String(
            decoding: text.lastIndex(of: UInt8(ascii: "@")).map { text[($0 + 1)...] } ?? text[...], as: UTF8.self)
        var absolute = text
        if !CurlTarget.hasScheme(text) {
            // curl guesses other schemes by the first label of the host.
            let host = String(decoding: text, as: UTF8.self).lowercased()
            let isOther = ["ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3."].contains { host.hasPrefix($0) }
            if isOther, defaultScheme == nil {
                throw CommandFailure(.urlInvalid, "\(shown): write the scheme, https:// or http://, in front")
            }
            absolute = (defaultScheme ?? Array("http".utf8)) + Array("://".utf8) + text
        }
        let slashes = absolute.firstIndex(of: UInt8(ascii: "/")) ?? absolute.endIndex
        let authorityStart = absolute[slashes...].firstIndex { $0 != UInt8(ascii: "/") } ?? absolute.endIndex
        let ends = Array("/?#".utf8)
        let authorityEnd = absolute[authorityStart...].firstIndex(where: ends.contains) ?? absolute.endIndex
        let at = absolute[authorityStart..<authorityEnd].lastIndex(of: UInt8(ascii: "@"))
        userInfo = at.map { Array(absolute[authorityStart...$0]) } ?? []
        let pathEnd = absolute[authorityEnd...].firstIndex { $0 == ends[1] || $0 == ends[2] } ?? absolute.endIndex
        let path = absolute[authorityEnd..<pathEnd]
        remoteName = Array(path[((path.lastIndex(of: ends[0]) ?? path.endIndex - 1) + 1)...])
        if let upload, !CurlTarget.isStandardInput(upload), path.isEmpty || path.last == ends[0] {
            let name = upload[((upload.lastIndex(of: ends[0]) ?? -1) + 1)...]
            let slash = path.isEmpty ? [ends[0]] : []
            let segment = PercentEncoding.encode(name, keeping: Array("-._~".utf8))
            absolute.replaceSubrange(pathEnd..<pathEnd, with: slash + segment)
        }
        url = try CurlTarget.parsed(absolute, shown: shown)
    }

    private static func parsed(_ absolute: [UInt8], shown: String) throws -> RequestURL {
        let url: RequestURL
        do throws(RequestURLError) {
            url = try RequestURL(Octets(absolute))
        } catch {
            throw CommandFailure(.urlInvalid, "\(shown): \(error.description)")
        }
        guard url.scheme == .http || url.scheme == .https else {
            throw CommandFailure(.urlInvalid, "\(shown): 'crumb curl' makes http and https requests only")
        }
        return url
    }

    /// Whether curl takes an upload from standard input.
    static func isStandardInput(_ upload: [UInt8]) -> Bool {
        upload == [UInt8(ascii: "-")] || upload == [UInt8(ascii: ".")]
    }

    /// curl's own test: letters, digits and `+-.` up to `:/`.
    private static func hasScheme(_ text: [UInt8]) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < text.count,
            text[colon + 1] == UInt8(ascii: "/")
        else { return false }
        return text[..<colon].allSatisfy { isAlphanumeric($0) || Array("+-.".utf8).contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { ASCII.isLetter(byte) || ASCII.isDigit(byte) }
}
