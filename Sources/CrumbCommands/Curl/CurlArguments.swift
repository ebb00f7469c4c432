import SessionOperations

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
