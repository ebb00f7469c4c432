import ArgumentParser

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Look after the key that everything is sealed under.",
        discussion: """
            The key comes from CRUMB_KEY (base64; two with a comma between while a rotation is under way), else from \
            the key file, which CRUMB_KEY_FILE names. A passphrase that locks the file is read from the file that \
            CRUMB_PASSPHRASE_FILE names, else asked for on the terminal; never from the command line, which others can \
            see.
            """,
        subcommands: [KeyStatusCommand.self, KeyRotateCommand.self, KeyPassphraseCommand.self])
}
