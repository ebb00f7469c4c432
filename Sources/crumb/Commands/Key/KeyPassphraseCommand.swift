import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct KeyPassphraseCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Set, change or remove the passphrase of the key file.",
        discussion: """
            The key stays the same, so no database changes. A copy of the old file still opens with the old passphrase: \
            'crumb key rotate' makes a new key. Asks for the new passphrase on the terminal unless you name a file. A \
            running service needs the passphrase, in CRUMB_PASSPHRASE_FILE, from its next start on, or as soon as the key \
            is rotated.
            """)

    @OptionGroup var output: OutputOptions

    @Option(help: "The file with the new passphrase in its first line; /dev/fd/N reads a descriptor.")
    var newPassphraseFile: String?

    @Flag(help: "Remove the passphrase: the file then holds the key in the clear.")
    var remove = false

    func validate() throws {
        if remove, newPassphraseFile != nil { throw ValidationError("'--remove' needs no new passphrase") }
    }

    func execute(_ console: Console) throws {
        let location = KeyLocation()
        guard !location.isInEnvironment else {
            throw Problem(.keyRotationRefused, "CRUMB_KEY: a key in the environment has no passphrase; unset it first")
        }
        let file = try location.file()
        guard let state = try file.state() else {
            throw Problem(.keyMissing, "\(file.path): there is no key yet; the first import makes one")
        }
        if remove {
            guard state.isLocked else {
                console.note("\(file.path) has no passphrase")
                return
            }
            try file.changePassphrase(to: nil)
            console.note("\(file.path) is in the clear now, readable by you alone")
            return
        }
        try file.changePassphrase(
            to: try Terminal.passphrase(in: newPassphraseFile, by: "--new-passphrase-file", isNew: true))
        console.note("\(file.path) is locked with the new passphrase; without it everything sealed is lost")
        console.note("a running service needs CRUMB_PASSPHRASE_FILE once it restarts, or the key is rotated")
    }
}
