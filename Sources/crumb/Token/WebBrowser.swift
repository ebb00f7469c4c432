@preconcurrency import Foundation

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#endif

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
        _ url: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        orElse failure: @escaping @Sendable () -> Void
    ) {
        let commands = commands(opening: url, browsers: environment["BROWSER"] ?? "")
        Thread.detachNewThread {
            if !commands.contains(where: { WebBrowser.run($0) }) { failure() }
        }
    }

    /// The commands that open a page, in order, each as its words.
    ///
    /// - Parameter browsers: commands with colons between them. In each, `%s` stands for the page, `%c` for a colon and `%%`
    ///   for a percent sign; the page is the last word of a command without `%s`. No shell reads them.
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

    /// Runs a command to its end, without a terminal; whether it worked.
    private static func run(_ command: [String]) -> Bool {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = command.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        guard posix_spawnp(&child, command[0], &actions, nil, &words, environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }
}
