import ArgumentParser

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the key that seals the database.",
        discussion: """
            The key comes from CRUMB_KEY, in base64, else from the key file that CRUMB_KEY_FILE names. During a rotation \
            CRUMB_KEY holds both keys, with a comma between. A passphrase can lock the key file: it comes from the file \
            that CRUMB_PASSPHRASE_FILE names, else from the terminal, never from the command line, which others can see.
            """,
        subcommands: [KeyStatusCommand.self, KeyRotateCommand.self, KeyPassphraseCommand.self])
}
