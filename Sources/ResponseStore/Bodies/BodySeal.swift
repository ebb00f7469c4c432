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

    func seal(_ chunk: [UInt8], number: Int64, isLast: Bool) throws -> [UInt8] {
        let nonce = try AES.GCM.Nonce(data: BodySeal.nonce(number, isLast: isLast))
        let box = try AES.GCM.seal(chunk, using: key, nonce: nonce)
        var sealed: [UInt8] = []
        sealed.reserveCapacity(chunk.count + BodySeal.tagLength)
        BodySeal.append(box.ciphertext, to: &sealed)
        BodySeal.append(box.tag, to: &sealed)
        return sealed
    }

    /// Opens a chunk; `nil` if it was changed, moved or truncated.
    func open(_ sealed: ArraySlice<UInt8>, number: Int64) -> [UInt8]? {
        open(combined: nonce(ofChunk: number) + sealed)
    }

    /// Opens a chunk that comes after its nonce; `nil` if it was changed, moved or truncated.
    func open(combined: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: combined), let chunk = try? AES.GCM.open(box, using: key)
        else { return nil }
        var opened: [UInt8] = []
        opened.reserveCapacity(combined.count)
        BodySeal.append(chunk, to: &opened)
        return opened
    }

    /// The nonce of a chunk of the stored body.
    func nonce(ofChunk number: Int64) -> [UInt8] { BodySeal.nonce(number, isLast: number == chunkCount - 1) }

    private static func nonce(_ number: Int64, isLast: Bool) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { [0, 0, 0, isLast ? 1 : 0] + $0 }
    }

    /// Appends octets at once. Their type is that of a module that is not imported here.
    private static func append(_ octets: some Sequence<UInt8>, to array: inout [UInt8]) {
        if octets.withContiguousStorageIfAvailable({ array.append(contentsOf: UnsafeRawBufferPointer($0)) }) == nil {
            array.append(contentsOf: octets)
        }
    }
}
