internal import CookieModel
internal import Crypto
internal import CryptoExtras
public import OAuth2
import Platform

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension KeySource {
    /// Keys in Base64, 32 bytes each, the newest last, separated by commas.
    ///
    /// - Parameters:
    ///   - text: the keys.
    ///   - name: the place where a user finds them.
    /// - Throws: `SessionStoreError.Code.keyUnavailable` if the text has another form.
    public static func base64(_ text: Secret, name: String) throws(SessionStoreError) -> KeySource {
        let parts = (text.exposedText ?? "").components(separatedBy: ",")
        let keys = parts.compactMap { part in
            Data(base64Encoded: String(part.trimmingWhitespace))
                .flatMap { SealingKey(bytes: Array($0)) }
        }
        guard keys.count == parts.count else {
            throw SessionStoreError(
                .keyUnavailable, name,
                "this is not a key: a key is 32 bytes in base64, as 'openssl rand -base64 32' prints")
        }
        return .keys(name: name) { _ throws(SessionStoreError) in keys }
    }

    /// Keys in an environment variable, as ``base64(_:name:)`` reads them; the variable is removed from the
    /// environment.
    ///
    /// An environment is not safe for secrets: children inherit it, and on many systems other processes of the same
    /// user can read it for as long as the process runs. So the variable is overwritten in memory and removed, as far
    /// as a process can do that. Call this before other threads read the environment.
    ///
    /// - Returns: `nil` if the variable is not set, or is empty.
    /// - Throws: `SessionStoreError.Code.keyUnavailable` if it does not contain keys.
    public static func takingEnvironment(_ variable: String = "CRUMB_KEY") throws(SessionStoreError) -> KeySource? {
        guard let text = Secret(takingEnvironment: variable) else { return nil }
        return try base64(text, name: variable)
    }
}

/// The parameters with which scrypt (RFC 7914) derives a key from a passphrase.
struct ScryptParameters: Hashable, Sendable {
    /// The cost for new key files: each guess takes 128 MiB and some tenths of a second.
    static let defaultCost = 17

    /// N is 2 to the power of this.
    var cost: Int
    /// r
    var blockSize: Int
    /// p
    var parallelism: Int
    var salt: [UInt8]

    /// The parameters of a new key file.
    init(cost: Int = defaultCost) {
        self.cost = cost
        blockSize = 8
        parallelism = 1
        salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
    }

    /// `nil` for parameters that do not protect, or would exhaust the machine's memory: a key file is untrusted input,
    /// too.
    init?(cost: Int, blockSize: Int, parallelism: Int, salt: [UInt8]) {
        guard (10...20).contains(cost), (1...32).contains(blockSize), (1...16).contains(parallelism),
            (8...64).contains(salt.count), (128 * blockSize) << cost <= 1 << 30
        else { return nil }
        self.cost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// Derives the key of a passphrase; `nil` if there is not enough memory.
    func key(_ passphrase: Secret) -> SealingKey? {
        ScryptParameters.derive(
            passphrase.exposedBytes, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, count: 32
        ).flatMap { SealingKey(bytes: $0) }
    }

    /// Runs scrypt. Neither `passphrase` nor `salt` may be empty.
    static func derive(
        _ passphrase: [UInt8], salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int, count: Int
    ) -> [UInt8]? {
        guard !passphrase.isEmpty, !salt.isEmpty else { return nil }
        let key = try? KDF.Scrypt.deriveKey(
            from: passphrase, salt: salt, outputByteCount: count, rounds: 1 << cost, blockSize: blockSize,
            parallelism: parallelism)
        return key?.withUnsafeBytes { Array($0) }
    }
}

extension Secret {
    /// Takes a secret from an environment variable, which is overwritten in memory and removed from the environment:
    /// children inherit the environment, and other processes of the same user can read it. Call this before other
    /// threads read it.
    ///
    /// - Returns: `nil` if the variable is not set, or is empty.
    package init?(takingEnvironment variable: String) {
        guard let pointer = getenv(variable) else { return nil }
        let count = strlen(pointer)
        self.init(UnsafeRawBufferPointer(start: pointer, count: count))
        memset(pointer, 0x78, count)
        unsetenv(variable)
        if isEmpty { return nil }
    }
}
