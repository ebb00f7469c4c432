internal import CookieModel

/// Encodes a sealing context so that no two contexts have the same encoding: each part follows its length.
package struct SealedPlace {
    package private(set) var bytes: [UInt8]

    /// A context of one kind, such as a token's value.
    package init(_ kind: String) {
        bytes = []
        append(kind.utf8)
    }

    package mutating func append(_ part: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).bigEndian) { bytes += $0 }
        if part.withContiguousStorageIfAvailable({ bytes += $0 }) == nil { bytes += part }
    }

    package mutating func append(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

extension SealedPlace {
    private static let cookieKind: StaticString = "cookie"

    /// The sealing context of a cookie's value. If a row is passed off as another one, or a flag or lifetime is
    /// changed, the value can no longer be opened. The last-access-time changes with each use and is not included.
    ///
    /// The context is written directly into memory of the right size, because there may be hundreds of thousands of
    /// values.
    static func cookie(_ cookie: some CookieFields, jarID: Int64) -> [UInt8] {
        let kind = UnsafeRawBufferPointer(start: cookieKind.utf8Start, count: cookieKind.utf8CodeUnitCount)
        let (domain, path, name, partition) = (
            cookie.domainOctets, cookie.pathOctets, cookie.nameOctets, cookie.partitionOctets
        )
        let octetCount = kind.count + domain.count + path.count + name.count + partition.count
        let count = octetCount + 5 * MemoryLayout<UInt32>.size + 5 * MemoryLayout<Int64>.size
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            var writer = Writer(UnsafeMutableRawBufferPointer(buffer))
            writer.write(kind)
            writer.write(jarID)
            writer.write(domain)
            writer.write(path)
            writer.write(name)
            writer.write(partition)
            let attributes = cookie.attributes
            writer.write(
                (cookie.isHostOnly ? 1 : 0) | (attributes[.secure] ? 2 : 0) | (attributes[.httpOnly] ? 4 : 0)
                    | Int64(cookie.sameSite.rawValue) << 3)
            writer.write(cookie.expiry == nil ? 0 : 1)
            writer.write(cookie.expiry?.microseconds ?? 0)
            writer.write(cookie.creation.microseconds)
            initializedCount = writer.count
        }
    }

    /// Writes parts one after the other into memory that is large enough.
    private struct Writer {
        private let memory: UnsafeMutableRawBufferPointer
        private(set) var count = 0

        init(_ memory: UnsafeMutableRawBufferPointer) {
            self.memory = memory
        }

        @inline(__always)
        mutating func write(_ part: some ContiguousOctets) {
            let end = count + MemoryLayout<UInt32>.size + part.count
            write(integer: UInt32(truncatingIfNeeded: part.count))
            part.withOctets { UnsafeMutableRawBufferPointer(rebasing: memory[count..<end]).copyMemory(from: $0) }
            count = end
        }

        @inline(__always)
        mutating func write(_ number: Int64) {
            write(integer: number)
        }

        @inline(__always)
        private mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(integer: Number) {
            memory.storeBytes(of: integer.bigEndian, toByteOffset: count, as: Number.self)
            count += MemoryLayout<Number>.size
        }
    }
}

extension CookieFields {
    /// The context that the value is sealed to.
    func sealedPlace(jarID: Int64) -> [UInt8] {
        SealedPlace.cookie(self, jarID: jarID)
    }
}
