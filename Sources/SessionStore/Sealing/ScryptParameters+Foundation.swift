internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import OAuth2

/// What scrypt (RFC 7914) makes a key of, beside the passphrase.
struct ScryptParameters: Hashable, Sendable {
    /// The cost for new key files: 128 MiB and some tenths of a second for each guess.
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

    /// `nil` for parameters that protect nothing, or would take a machine's memory: a key file is input too.
    init?(cost: Int, blockSize: Int, parallelism: Int, salt: [UInt8]) {
        guard (10...20).contains(cost), (1...32).contains(blockSize), (1...16).contains(parallelism),
            (8...64).contains(salt.count), (128 * blockSize) << cost <= 1 << 30
        else { return nil }
        self.cost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// The key that a passphrase stands for; `nil` where there is not enough memory.
    func key(_ passphrase: Secret) -> SealingKey? {
        ScryptParameters.derive(
            passphrase.exposedBytes, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, count: 32
        ).flatMap { SealingKey(bytes: $0) }
    }

    /// scrypt itself; neither `passphrase` nor `salt` may be empty.
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
