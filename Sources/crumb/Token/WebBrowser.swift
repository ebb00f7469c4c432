@preconcurrency import Foundation

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#endif

/// The user's web browser.
enum WebBrowser {
    #if os(macOS)
        private static let program = "open"
    #else
        private static let program = "xdg-open"
    #endif

    /// Opens a page, and does not wait for it.
    ///
    /// - Returns: whether there was a program to do that.
    static func open(_ url: String) -> Bool {
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
        var words = [program, url].map { (word: String) in strdup(word) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        return posix_spawnp(&child, program, &actions, nil, &words, environ) == 0
    }
}
