import CookieModel
import Crypto
import CryptoExtras

/// Decrypts the values of Chromium on Linux: AES-128 in CBC mode, under a key that PBKDF2 makes of a password.
///
/// `v10` values use a password that is the same everywhere, `v11` values the one in the desktop's keyring.
struct ChromiumCipher {
    /// Why a value cannot be decrypted.
    enum Obstacle: Int {
        /// `v11`, and there is no password.
        case passwordMissing
        /// `v11`, and the password is another one.
        case passwordWrong
        /// `v10`, and the value is damaged or of another computer's kind.
        case damaged
        /// `v20`: the key is bound to the browser itself.
        case appBound
        /// A version that is not known here.
        case unknown
    }

    enum Value {
        /// Nothing is encrypted: the value is in the column `value`.
        case plain
        case decrypted(Octets)
        case unreadable(Obstacle)
    }

    private let commonKey: SymmetricKey?
    private let password: () -> [UInt8]?
    /// The key of the password, once it was asked for.
    private var foundKey: SymmetricKey??
    private let hasHashedHost: Bool

    /// - Parameters:
    ///   - password: gives the password in the keyring; `nil` if it is not known. It is called at most once.
    ///   - hasHashedHost: whether the plain text begins with the SHA-256 of the cookie's host.
    init(password: @escaping () -> [UInt8]?, hasHashedHost: Bool) {
        commonKey = ChromiumCipher.key(Array("peanuts".utf8))
        self.password = password
        self.hasHashedHost = hasHashedHost
    }

    private mutating func keyringKey() -> SymmetricKey? {
        if let foundKey { return foundKey }
        let key = password().flatMap { ChromiumCipher.key($0) }
        foundKey = .some(key)
        return key
    }

    mutating func value(_ encrypted: Octets?, host: Octets) -> Value {
        guard let encrypted, !encrypted.isEmpty else { return .plain }
        guard encrypted.count > 3 else { return .unreadable(.unknown) }
        let text = encrypted.dropFirst(3)
        switch encrypted.prefix(3) {
        case "v10": return decrypted(text, commonKey, host, otherwise: .damaged)
        case "v11":
            guard let key = keyringKey() else { return .unreadable(.passwordMissing) }
            return decrypted(text, key, host, otherwise: .passwordWrong)
        case "v20": return .unreadable(.appBound)
        default: return .unreadable(.unknown)
        }
    }

    private func decrypted(_ text: Octets, _ key: SymmetricKey?, _ host: Octets, otherwise: Obstacle) -> Value {
        guard let key, let vector = try? AES._CBC.IV(ivBytes: [UInt8](repeating: 0x20, count: 16)),
            let plain = try? AES._CBC.decrypt(text.bytes, using: key, iv: vector)
        else { return .unreadable(otherwise) }
        let bytes = Array(plain)
        guard hasHashedHost else { return .decrypted(Octets(bytes)) }
        let hash = Array(SHA256.hash(data: host.bytes))
        guard bytes.count >= hash.count, Array(bytes[..<hash.count]) == hash else { return .unreadable(otherwise) }
        return .decrypted(Octets(bytes, in: hash.count..<bytes.count))
    }

    private static func key(_ password: [UInt8]) -> SymmetricKey? {
        try? KDF.Insecure.PBKDF2.deriveKey(
            from: password, salt: Array("saltysalt".utf8), using: .insecureSHA1, outputByteCount: 16,
            unsafeUncheckedRounds: 1)
    }
}
