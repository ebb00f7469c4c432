import Crypto
import Platform
import WebPrimitives

/// The file with the bodies of one version of a package, sealed in chunks under a random key of its own.
///
/// The nonce of a chunk is its number in the file, and the sealed index says which chunks belong to a body and how long it
/// is. So no chunk can be moved, replaced or cut off. A key seals one file, so no nonce is used twice.
struct PackageBundle: Sendable {
    /// Where a body is.
    struct Place: Sendable, Hashable, Codable {
        /// The position of its first chunk in the file, and the number of that chunk.
        var position: Int64
        var chunk: Int64
        var length: Int64
    }

    static let chunkLength: Int64 = 1 << 16
    static let tagLength: Int64 = 16

    /// Writes a new bundle.
    struct Writer: ~Copyable {
        private let file: Descriptor
        private let key = SymmetricKey(size: .bits256)
        private var (position, chunk): (Int64, Int64) = (0, 0)
        private var place = Place(position: 0, chunk: 0, length: 0)
        private var rest: [UInt8] = []

        init(_ path: String) throws(SystemError) {
            file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL)
        }

        deinit {
            file.close()
        }

        /// The key in Base64, for the sealed index.
        var keyText: String { key.withUnsafeBytes { Base64.text($0) } }

        /// Adds octets to the current body.
        mutating func append(_ octets: [UInt8]) throws(SystemError) {
            rest += octets
            place.length += Int64(octets.count)
            var start = 0
            while rest.count - start >= PackageBundle.chunkLength {
                let end = start + Int(PackageBundle.chunkLength)
                try write(Array(rest[start..<end]))
                start = end
            }
            rest.removeFirst(start)
        }

        /// Ends the current body.
        mutating func end() throws(SystemError) -> Place {
            if !rest.isEmpty { try write(rest) }
            rest = []
            defer { place = Place(position: position, chunk: chunk, length: 0) }
            return place
        }

        private mutating func write(_ octets: [UInt8]) throws(SystemError) {
            let nonce = PackageBundle.nonce(chunk)
            guard let nonce = try? AES.GCM.Nonce(data: nonce),
                let box = try? AES.GCM.seal(octets, using: key, nonce: nonce)
            else { throw SystemError(EINVAL) }
            try file.write(Array(box.ciphertext) + Array(box.tag), at: position)
            position += Int64(octets.count) + PackageBundle.tagLength
            chunk += 1
        }

        /// Waits until the disk has everything.
        func synchronize() throws(SystemError) {
            try file.synchronize()
        }
    }

    /// Reads a bundle. It can be read to the end even if its file is removed meanwhile.
    final class Reader: Sendable {
        private let file: Descriptor
        private let key: SymmetricKey

        /// - Returns: `nil` if the file is missing, or the key is none.
        init?(_ path: String, key: [UInt8]) {
            guard key.count == 32, let file = try? Descriptor(opening: path, O_RDONLY | O_NOFOLLOW) else { return nil }
            self.file = file
            self.key = SymmetricKey(data: key)
        }

        deinit {
            file.close()
        }

        /// Octets of a body from a position on, up to the end of the chunk; `nil` if they were changed.
        func read(_ place: Place, from start: Int64) -> [UInt8]? {
            let number = start / PackageBundle.chunkLength
            let stride = PackageBundle.chunkLength + PackageBundle.tagLength
            let length = min(PackageBundle.chunkLength, place.length - number * PackageBundle.chunkLength)
            guard start < place.length,
                let sealed = try? file.read(
                    Int(length + PackageBundle.tagLength), at: place.position + number * stride),
                let box = try? AES.GCM.SealedBox(combined: PackageBundle.nonce(place.chunk + number) + sealed),
                let chunk = try? AES.GCM.open(box, using: key)
            else { return nil }
            return Array(chunk.dropFirst(Int(start - number * PackageBundle.chunkLength)))
        }

        /// A whole body; `nil` if it was changed.
        func readAll(_ place: Place) -> [UInt8]? {
            var octets: [UInt8] = []
            while Int64(octets.count) < place.length {
                guard let piece = read(place, from: Int64(octets.count)) else { return nil }
                octets += piece
            }
            return octets
        }
    }

    private static func nonce(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { [0, 0, 0, 0] + $0 }
    }
}
