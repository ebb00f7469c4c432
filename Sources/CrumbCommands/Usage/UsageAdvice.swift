import ArgumentParser

/// The advice for a command line that the parser rejects: the parser knows the error, this type knows what people
/// meant.
struct UsageAdvice {
    /// The words before the terminator.
    private let words: [String]
    /// The commands that the words name, without `crumb`: `jars`, `remove`.
    private let path: [String]
    /// The command at the end of the path.
    private let command: any ParsableCommand.Type
    /// An unknown word in the place of a command, with the words after it.
    private let unknown: ArraySlice<String>?
    /// Whether the command line asks for help in place of a run.
    private let asksForHelp: Bool

    /// - Parameter arguments: the words after the program's name.
    init(_ arguments: [String], root: any ParsableCommand.Type = Crumb.self) {
        var rest = arguments.prefix { $0 != "--" }[...]
        words = Array(rest)
        asksForHelp = rest.first == "help" || rest.contains { ["--help", "-h", "-help"].contains($0) }
        if rest.first == "help" { rest = rest.dropFirst() }
        var command: any ParsableCommand.Type = root
        var path: [String] = []
        while let word = rest.first, !word.hasPrefix("-"), let next = command.subcommand(named: word) {
            path.append(next.name)
            command = next
            rest = rest.dropFirst()
        }
        (self.command, self.path) = (command, path)
        let isMissing = rest.first.map { !$0.hasPrefix("-") } ?? false
        unknown = isMissing && (!command.configuration.subcommands.isEmpty || words.first == "help") ? rest : nil
    }

    /// The whole text of the error for help on a command that does not exist; `nil` if nothing needs reporting.
    var unknownHelpTopic: String? {
        guard asksForHelp, let unknownCommand else { return nil }
        return "Error: \(unknownCommand)"
    }

    /// A message with advice; `nil` if the parser's own is as good.
    func message(insteadOf message: String) -> String? {
        // Options of an unknown command are not reported.
        if let unknownCommand { return unknownCommand }
        if message.hasPrefix("Unexpected argument") || message.contains("unexpected arguments: ") {
            return UsageTable.extraArguments[name]
        }
        if message.hasPrefix("Unknown option"), let option = message.split(separator: "'").dropFirst().first {
            return advice(onOption: String(option)) ?? withoutFarSuggestion(message)
        }
        if message.hasPrefix("Missing value for '") || message.hasPrefix("The value '"),
            let option = UsageTable.values.keys.first(where: { message.contains("'\($0) ") })
        {
            return UsageTable.values[option]
        }
        if message.hasPrefix("Missing expected argument") {
            return UsageTable.missingArguments[name]
        }
        return nil
    }

    /// Returns the whole text of an error that a command has found in its options when it ran.
    func text(of error: ValidationError, by command: any ParsableCommand.Type) -> String {
        """
        Error: \(error.message)
        Usage: \(Crumb.usageString(for: command))
          See 'crumb \(name) --help' for more information.
        """
    }

    /// The path as people write it.
    private var name: String { path.joined(separator: " ") }

    // MARK: - Commands

    private var unknownCommand: String? {
        guard let unknown, let word = unknown.first else { return nil }
        let group = path.isEmpty ? "crumb" : "crumb \(name)"
        if command.configuration.subcommands.isEmpty { return "No command '\(word)' in `\(group)`." }
        let meant = UsageTable.commands["\(name) \(word.lowercased())".trimmed] ?? similarCommand(to: word)
        guard let meant else {
            return "No command '\(word)'. `\(path.isEmpty ? "crumb help" : "crumb help \(name)")` lists them."
        }
        // A line of a cookie may be among the words: it is not repeated.
        let following = asksForHelp ? [] : unknown.dropFirst().prefix { !$0.hasPrefix("-") && !$0.contains("=") }
        let takesWords = meant.last.map { $0.isLowercase } ?? false
        let tail = takesWords ? following.map { " \(ShellWord($0))" }.joined() : ""
        return "No command '\(word)'. Did you mean `crumb \(asksForHelp ? "help " : "")\(meant)\(tail)`?"
    }

    /// The command of the group whose name or alias is nearest, if one is near.
    private func similarCommand(to word: String) -> String? {
        let candidates = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap {
            command in
            ([command.name] + command.configuration.aliases).map { (name: command.name, spelled: $0) }
        }
        let nearest = candidates.map { (name: $0.name, distance: word.editDistance(to: $0.spelled)) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= UsageAdvice.limit(for: word) else { return nil }
        return (path + [nearest.name]).joined(separator: " ")
    }

    /// The greatest distance of a word that may be meant.
    private static func limit(for word: String) -> Int { max(1, min(word.count, 9) / 3) }

    // MARK: - Options

    private func advice(onOption option: String) -> String? {
        let prefix = "Unknown option '\(option)'."
        if path.isEmpty, words.first?.hasPrefix("-") == true {
            return "\(prefix) Put options after the command: `crumb list --json`."
        }
        guard let rule = UsageTable.options.first(where: { $0.names.contains(option) && $0.isFor(name) }) else {
            return nil
        }
        return "\(prefix) \(rule.advice(command: name, value: value(of: option)))"
    }

    /// The message on an unknown option without the option that the parser suggests; `nil` if that one is near.
    private func withoutFarSuggestion(_ message: String) -> String? {
        let parts = message.split(separator: "'").map(String.init)
        guard parts.count > 3 else { return nil }
        let (option, suggestion) = (parts[1].trimmingPrefix("--"), parts[3].trimmingPrefix("--"))
        let isNear = String(option).editDistance(to: String(suggestion)) <= UsageAdvice.limit(for: String(option))
        return isNear ? nil : "Unknown option '\(parts[1])'."
    }

    /// The word after an option, or after its equals sign.
    private func value(of option: String) -> String? {
        guard let place = words.firstIndex(where: { $0 == option || $0.hasPrefix("\(option)=") }) else { return nil }
        if words[place] != option { return String(words[place].dropFirst(option.count + 1)) }
        return words.dropFirst(place + 1).first
    }
}

extension ParsableCommand {
    /// The name on the command line.
    fileprivate static var name: String { configuration.commandName ?? "" }

    fileprivate static func subcommand(named word: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.name == word || $0.configuration.aliases.contains(word) }
    }
}

extension String {
    fileprivate var trimmed: String { hasPrefix(" ") ? String(dropFirst()) : self }

    /// How many insertions, deletions, replacements and swaps of neighbours lead from one word to another; of long words,
    /// their beginnings.
    func editDistance(to other: String) -> Int {
        let (left, right) = (Array(utf8.prefix(32)), Array(other.utf8.prefix(32)))
        var row = Array(0...right.count)
        var before = row
        for (index, byte) in left.enumerated() {
            let last = row
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (right[column] == byte ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, row[column] + 1, row[column + 1] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == right[column] {
                    row[column + 1] = Swift.min(row[column + 1], before[column - 1] + 1)
                }
            }
            before = last
        }
        return row[right.count]
    }
}
