import CookieModel
import OAuth2
import SessionStore

/// Where the command's key comes from: `CRUMB_KEY`, else the key file, with the passphrase that locks it.
struct KeyLocation {
    let locations: Locations

    /// What `CRUMB_KEY` held. The first look takes it out of the environment, so that no child inherits it.
    private static let environmentKeys = Result { try KeySource.takingEnvironment() }

    init(_ locations: Locations = Locations()) {
        self.locations = locations
    }

    /// Takes secrets out of the environment: curl has no use for them.
    static func clearEnvironment() {
        _ = environmentKeys
    }

    /// Whether the key comes from the environment.
    var isInEnvironment: Bool {
        if case .success(nil) = KeyLocation.environmentKeys { false } else { true }
    }

    /// The key file; also where ``isInEnvironment`` says that it is not used.
    func file() throws -> KeyFile {
        KeyFile(try locations.keyFile(), passphrase: passphrase())
    }

    /// Whether a passphrase locks the key.
    func isLocked() throws -> Bool {
        isInEnvironment ? false : try file().state()?.isLocked ?? false
    }

    /// The source to open a database with.
    func source() throws -> KeySource {
        if let source = try KeyLocation.environmentKeys.get() { return source }
        return .file(try file())
    }

    /// What a person is told: never a key.
    func name() throws -> String {
        isInEnvironment ? "CRUMB_KEY" : try locations.keyFile()
    }

    private func passphrase() -> PassphraseSource {
        locations.passphraseFile().map { .file($0) } ?? Terminal.passphraseSource
    }
}
