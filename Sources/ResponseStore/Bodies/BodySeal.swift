import Crypto
import WebPrimitives

/// Seals and opens the body of one response, in chunks, under a random key of its own.
///
/// The nonce of a chunk is its number and whether it is the last one. So no chunk can be moved or removed, and a body
/// cannot end early. A key seals one body, so no nonce is used twice.
struct BodySeal: Sendable {
    /// How many octets of a body are sealed together.
    static let chunkLength = 1 << 16
    static let tagLength = 16
    private static let keyLength = 32

    private let key: SymmetricKey
    /// How many octets the body has.
    let length: Int64

    /// The key of a new body. Its length is known at its end.
    init() {
        key = SymmetricKey(size: .bits256)
        length = 0
    }

    /// The key and length of a stored body; `nil` if they are not valid.
    init?(key: Octets, length: Int64) {
        guard key.count == BodySeal.keyLength, length >= 0 else { return nil }
        self.init(SymmetricKey(data: key.bytes), length: length)
    }

    private init(_ key: SymmetricKey, length: Int64) {
        self.key = key
        self.length = length
    }

    /// The same key, for a body of that length.
    func withLength(_ length: Int64) -> BodySeal { BodySeal(key, length: length) }

    var keyOctets: [UInt8] { key.withUnsafeBytes { Array($0) } }

    /// How many chunks the body has. An empty one has one, too, so that its end is sealed.
    var chunkCount: Int64 { max(1, (length + Int64(BodySeal.chunkLength) - 1) / Int64(BodySeal.chunkLength)) }

    /// How many octets the sealed body has.
    var sealedLength: Int64 { length + chunkCount * Int64(BodySeal.tagLength) }

    /// The places of a sealed chunk.
    func place(ofChunk number: Int64) -> Range<Int64> {
        let stride = Int64(BodySeal.chunkLength + BodySeal.tagLength)
        return (number * stride)..<min((number + 1) * stride, sealedLength)
    }

    func seal(_ chunk: ArraySlice<UInt8>, number: Int64, isLast: Bool) throws -> [UInt8] {
        let box = try AES.GCM.seal(chunk, using: key, nonce: try BodySeal.nonce(number, isLast: isLast))
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// Opens a chunk; `nil` if it was changed, moved or truncated.
    func open(_ sealed: some RandomAccessCollection<UInt8>, number: Int64) -> [UInt8]? {
        guard sealed.count >= BodySeal.tagLength,
            let nonce = try? BodySeal.nonce(number, isLast: number == chunkCount - 1),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(BodySeal.tagLength), tag: sealed.suffix(BodySeal.tagLength)),
            let chunk = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(chunk)
    }

    private static func nonce(_ number: Int64, isLast: Bool) throws -> AES.GCM.Nonce {
        try withUnsafeBytes(of: number.bigEndian) { try AES.GCM.Nonce(data: [0, 0, 0, isLast ? 1 : 0] + $0) }
    }
}
