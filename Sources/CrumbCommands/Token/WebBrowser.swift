import Platform

/// The user's web browser: the commands in the variable `BROWSER`, then the system's opener.
enum WebBrowser {
    #if os(macOS)
        private static let opener = "open"
    #else
        private static let opener = "xdg-open"
    #endif

    /// Opens a page and returns at once. A command that cannot be started, or fails, is followed by the next one.
    ///
    /// A browser may end long after it has opened the page, so a page can be opened more than once.
    ///
    /// - Parameter failure: is called, on another thread, if no command worked.
    static func open(
        _ url: String, environment: [String: String] = ProcessEnvironment.variables,
        orElse failure: @escaping @Sendable () -> Void
    ) {
        let commands = commands(opening: url, browsers: environment["BROWSER"] ?? "")
        beginThread {
            if !commands.contains(where: { ChildProcess.succeeds($0) }) { failure() }
        }
    }

    /// The commands that open a page, in order, each as its words.
    ///
    /// - Parameter browsers: commands with colons between them. In each, `%s` means the page, `%c` a colon and `%%` a
    ///   percent sign. The page is the last word of a command without `%s`. They do not pass through a shell.
    static func commands(opening url: String, browsers: String) -> [[String]] {
        let named = browsers.split(separator: ":").compactMap { text -> [String]? in
            var command = words(of: text)
            // A shell's mark for the background, where every command runs here.
            if command.last == "&" { command.removeLast() }
            guard !command.isEmpty else { return nil }
            let namesPage = command.dropFirst().contains { $0.replacing("%%", with: "").contains("%s") }
            return command.map { expanded($0, url) } + (namesPage ? [] : [url])
        }
        return named + [[opener, url]]
    }

    /// Splits a command at blanks, but not within quotes.
    private static func words(of text: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            switch (quote, character) {
            case (let open?, _) where open == character: quote = nil
            case (nil, "\""), (nil, "'"):
                quote = character
                word = word ?? ""
            case (nil, " "), (nil, "\t"):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    private static func expanded(_ word: String, _ url: String) -> String {
        var expanded = ""
        var rest = word[...]
        while let character = rest.popFirst() {
            switch (character, rest.first) {
            case ("%", "s"): expanded += url
            case ("%", "c"): expanded += ":"
            case ("%", "%"): expanded += "%"
            default:
                expanded.append(character)
                continue
            }
            rest.removeFirst()
        }
        return expanded
    }
}

/// The clipboard of the user's desktop, by the first program on PATH that reaches it.
enum Clipboard {
    /// The programs with their arguments, and the variable that says that their desktop is there.
    private static let ways: [(words: [String], variable: String?)] = [
        (["wl-copy"], "WAYLAND_DISPLAY"), (["xclip", "-selection", "clipboard"], "DISPLAY"),
        (["xsel", "--clipboard", "--input"], "DISPLAY"), (["pbcopy"], nil),
    ]

    /// Copies a text.
    ///
    /// - Returns: Whether a program has taken it.
    static func copy(_ text: String) -> Bool {
        let environment = ProcessEnvironment.variables
        return ways.contains { words, variable in
            if let variable, (environment[variable] ?? "").isEmpty { return false }
            return ChildProcess.succeeds(words, input: Array(text.utf8))
        }
    }
}

/// A QR code for the terminal that standard error is.
enum TerminalQRCode {
    enum Style {
        /// In black and white, whatever the terminal's own colors are.
        case colored
        /// In the terminal's own colors, if others are not wanted.
        case plain
    }

    /// Shows a text, unless there is no terminal, or it is too narrow: a code is a convenience, and the address is printed
    /// in any case.
    static func show(_ text: String, _ style: Style) {
        guard isatty(STDERR_FILENO) == 1, let code = Network.current?.drawQRCode(text, style == .colored),
            code.columns <= width
        else { return }
        try? Console.write(code.lines.flatMap { Array("\($0)\n".utf8) }, to: STDERR_FILENO)
    }

    /// How many columns the terminal has; unlimited if it does not say.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return .max }
        return Int(size.ws_col)
    }
}
