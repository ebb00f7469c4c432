import ArgumentParser
import SessionOperations

/// What a shell completes the name of something stored to: the names in the database that the command line means.
enum NameCompletion {
    /// The names of the jars.
    static let jars = names { try $0.databaseOptions.place(now: Console.current.now).jars().map(\.name) }

    /// The names of the jars that can be restored.
    static let restorableJars = names {
        try $0.databaseOptions.place(now: Console.current.now).removedJars().map(\.jar)
    }

    /// The names of the saved sessions of a jar.
    static let sessions = names { try $0.place(now: Console.current.now).savedSessions(of: $0.jar).map(\.name) }

    /// The names of the logins.
    static let logins = names {
        try $0.databaseOptions.place(now: Console.current.now).tokens().tokens.map(\.name)
    }

    private static func names(_ names: @escaping @Sendable (JarOptions) throws -> [String]) -> CompletionKind {
        .custom { words, _, _ in
            // A service may take long to answer. A failure shows when the command runs.
            guard let options = try? JarOptions.parse(placeOptions(in: words)), !options.databaseOptions.asksService
            else { return [] }
            return (try? names(options)) ?? []
        }
    }

    /// The options for a database and a jar, each with its value.
    private static func placeOptions(in words: [String]) -> [String] {
        zip(words, words.dropFirst()).flatMap { option, value in
            ["--database", "--jar", "-j"].contains(option) ? [option, value] : []
        }
    }
}
