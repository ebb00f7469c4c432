import Foundation
import OAuth2
import SessionOperations
import SessionStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The terminal that the command runs on, whatever its streams are.
enum Terminal {
    /// Asks on the terminal where there is one. A key file that is made on first use is not locked for that alone.
    static let passphraseSource = PassphraseSource(name: "the terminal", locksNewFiles: false) {
        () throws(SessionStoreError) in
        readSecret("Passphrase: ")
    }

    /// The passphrase in a file, or one that is typed on the terminal.
    ///
    /// - Parameters:
    ///   - file: The file; `nil` to ask.
    ///   - option: The option that names the file.
    ///   - isNew: Whether a person has to type it twice.
    /// - Throws: `Problem` if there is no passphrase.
    static func passphrase(in file: String?, by option: String, isNew: Bool) throws -> Secret {
        if let file {
            guard let passphrase = try PassphraseSource.file(file).load() else {
                throw Problem(.keyLocked, "\(file): there is no passphrase")
            }
            return passphrase
        }
        guard let passphrase = readSecret(isNew ? "New passphrase: " : "Passphrase: ") else {
            throw Problem(.keyLocked, "there is no \(isNew ? "new " : "")passphrase; name a file with \(option)")
        }
        guard !isNew || readSecret("Again: ") == passphrase else {
            throw Problem(.keyLocked, "the two passphrases differ; nothing was changed")
        }
        return passphrase
    }

    /// Reads a line that is not shown; `nil` where there is no terminal, and where nothing or Control-C was typed.
    static func readSecret(_ prompt: String) -> Secret? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var saved = termios()
        guard tcgetattr(descriptor, &saved) == 0 else { return nil }
        var silent = saved
        // Without ISIG, so that Control-C cannot leave a terminal behind that shows nothing: it is read as a byte.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &saved)
            try? Console.write(Array("\n".utf8), to: descriptor)
        }
        try? Console.write(Array(prompt.utf8), to: descriptor)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096, read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            if byte == 3 { return nil }
            line.append(byte)
        }
        return line.isEmpty ? nil : Secret(line)
    }
}
