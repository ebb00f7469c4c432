internal import CookieModel
internal import Foundation
internal import OAuth2

/// A line of a key file: a key in the clear, or one that a passphrase locks.
///
/// `crumb-key-1:` and the key in base64, or `crumb-scrypt-1:` and, with commas between, the binary logarithm of scrypt's
/// N, its r, its p, the salt in base64, and the key in base64, sealed under the key that scrypt makes of the passphrase.
/// Since a passphrase locks the key rather than being it, another passphrase means another line, and nothing in any
/// database changes.
enum KeyFileLine: Hashable, Sendable {
    case plain([UInt8])
    case locked(ScryptParameters, sealedKey: [UInt8])

    private static let plainMark = "crumb-key-1:"
    private static let lockedMark = "crumb-scrypt-1:"

    /// `nil` for a line that is no key.
    init?(_ text: String) {
        if text.hasPrefix(KeyFileLine.plainMark) {
            guard let data = Data(base64Encoded: String(text.dropFirst(KeyFileLine.plainMark.count))), data.count == 32
            else { return nil }
            self = .plain(Array(data))
        } else if text.hasPrefix(KeyFileLine.lockedMark) {
            let parts = text.dropFirst(KeyFileLine.lockedMark.count).components(separatedBy: ",")
            guard parts.count == 5, let cost = Int(parts[0]), let blockSize = Int(parts[1]),
                let parallelism = Int(parts[2]), let salt = Data(base64Encoded: parts[3]),
                let sealedKey = Data(base64Encoded: parts[4]),
                let parameters = ScryptParameters(
                    cost: cost, blockSize: blockSize, parallelism: parallelism, salt: Array(salt))
            else { return nil }
            self = .locked(parameters, sealedKey: Array(sealedKey))
        } else {
            return nil
        }
    }

    /// The line of a key, locked where there is a passphrase; `nil` where scrypt fails.
    init?(_ key: SealingKey, passphrase: Secret?, cost: Int) {
        guard let passphrase else {
            self = .plain(key.exposedBytes)
            return
        }
        let parameters = ScryptParameters(cost: cost)
        guard let lock = parameters.key(passphrase),
            let sealed = try? Sealer(lock, id: 0).seal(key.exposedBytes, at: KeyFileLine.place(parameters))
        else { return nil }
        self = .locked(parameters, sealedKey: sealed)
    }

    /// Whether a passphrase is needed.
    var isLocked: Bool {
        if case .locked = self { true } else { false }
    }

    /// The line in the file, without its end.
    var text: String {
        switch self {
        case .plain(let bytes):
            return KeyFileLine.plainMark + Data(bytes).base64EncodedString()
        case .locked(let parameters, let sealedKey):
            let numbers = "\(parameters.cost),\(parameters.blockSize),\(parameters.parallelism)"
            let salt = Data(parameters.salt).base64EncodedString()
            return "\(KeyFileLine.lockedMark)\(numbers),\(salt),\(Data(sealedKey).base64EncodedString())"
        }
    }

    /// The key; `nil` where the passphrase is not the one, or the line was changed.
    func key(_ passphrase: Secret?) -> SealingKey? {
        switch self {
        case .plain(let bytes):
            return SealingKey(bytes: bytes)
        case .locked(let parameters, let sealedKey):
            guard let passphrase, let lock = parameters.key(passphrase) else { return nil }
            let bytes = Sealer(lock, id: 0).open(Octets(sealedKey), at: KeyFileLine.place(parameters))
            return bytes.flatMap { SealingKey(bytes: $0.bytes) }
        }
    }

    private static func place(_ parameters: ScryptParameters) -> [UInt8] {
        var place = SealedPlace("key file")
        for number in [parameters.cost, parameters.blockSize, parameters.parallelism] { place.append(Int64(number)) }
        place.append(parameters.salt)
        return place.bytes
    }
}
