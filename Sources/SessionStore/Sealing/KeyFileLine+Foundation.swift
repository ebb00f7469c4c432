internal import CookieModel
internal import OAuth2

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A line of a key file: an unlocked key, or one that is locked with a passphrase.
///
/// `crumb-key-1:` and the key in base64, or `crumb-scrypt-1:` and, with commas between, the binary logarithm of
/// scrypt's N, its r, its p, the salt in base64, and the key in base64, sealed under the key that scrypt derives from
/// the passphrase. The passphrase locks the key and is not the key itself, so a new passphrase changes the line, but no
/// database. A former key is followed by `replaced` and the time at which a newer key was added, in RFC 3339.
struct KeyFileLine: Hashable, Sendable {
    enum Key: Hashable, Sendable {
        case plain([UInt8])
        case locked(ScryptParameters, sealedKey: [UInt8])
    }

    let key: Key
    /// When a newer key was added; `nil` for the newest key, and for a former one whose time is unknown.
    var replaced: Timestamp?

    private static let plainMark = "crumb-key-1:"
    private static let lockedMark = "crumb-scrypt-1:"
    private static let replacedMark = " replaced "

    /// `nil` if the line is not a key.
    init?(_ line: String) {
        var text = line
        if let mark = line.firstRange(of: KeyFileLine.replacedMark) {
            guard let time = Timestamp(rfc3339: line[mark.upperBound...].utf8) else { return nil }
            replaced = time
            text = String(line[..<mark.lowerBound])
        }
        if text.hasPrefix(KeyFileLine.plainMark) {
            guard let data = Data(base64Encoded: String(text.dropFirst(KeyFileLine.plainMark.count))), data.count == 32
            else { return nil }
            key = .plain(Array(data))
        } else if text.hasPrefix(KeyFileLine.lockedMark) {
            let parts = text.dropFirst(KeyFileLine.lockedMark.count).components(separatedBy: ",")
            guard parts.count == 5, let cost = Int(parts[0]), let blockSize = Int(parts[1]),
                let parallelism = Int(parts[2]), let salt = Data(base64Encoded: parts[3]),
                let sealedKey = Data(base64Encoded: parts[4]),
                let parameters = ScryptParameters(
                    cost: cost, blockSize: blockSize, parallelism: parallelism, salt: Array(salt))
            else { return nil }
            key = .locked(parameters, sealedKey: Array(sealedKey))
        } else {
            return nil
        }
    }

    /// The line of a key; `nil` if it cannot be locked.
    init?(_ key: SealingKey, lock: KeyFileLock?, replaced: Timestamp? = nil) {
        self.replaced = replaced
        guard let lock else {
            self.key = .plain(key.exposedBytes)
            return
        }
        let place = KeyFileLine.place(lock.parameters)
        guard let sealed = try? Sealer(lock.key, id: 0).seal(key.exposedBytes, at: place) else { return nil }
        self.key = .locked(lock.parameters, sealedKey: sealed)
    }

    /// The parameters of the lock; `nil` for an unlocked key.
    var lockParameters: ScryptParameters? {
        if case .locked(let parameters, _) = key { parameters } else { nil }
    }

    /// The line in the file, without its end.
    var text: String {
        let time = replaced.map { KeyFileLine.replacedMark + $0.rfc3339 } ?? ""
        switch key {
        case .plain(let bytes):
            return KeyFileLine.plainMark + Data(bytes).base64EncodedString() + time
        case .locked(let parameters, let sealedKey):
            let numbers = "\(parameters.cost),\(parameters.blockSize),\(parameters.parallelism)"
            let salt = Data(parameters.salt).base64EncodedString()
            return "\(KeyFileLine.lockedMark)\(numbers),\(salt),\(Data(sealedKey).base64EncodedString())\(time)"
        }
    }

    /// The key; `nil` if the lock does not open it, or the line was changed.
    func key(_ lock: KeyFileLock?) -> SealingKey? {
        switch key {
        case .plain(let bytes):
            return SealingKey(bytes: bytes)
        case .locked(let parameters, let sealedKey):
            guard let lock, lock.parameters == parameters else { return nil }
            let bytes = Sealer(lock.key, id: 0).open(Octets(sealedKey), at: KeyFileLine.place(parameters))
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

/// The key that scrypt derives from a passphrase, which all lines of a file share: deriving it takes tenths of a second.
struct KeyFileLock: Sendable {
    let parameters: ScryptParameters
    let key: SealingKey

    /// `nil` if there is not enough memory.
    init?(_ passphrase: Secret, _ parameters: ScryptParameters) {
        guard let key = parameters.key(passphrase) else { return nil }
        self.parameters = parameters
        self.key = key
    }
}
