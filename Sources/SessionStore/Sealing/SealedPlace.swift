internal import CookieModel

/// Writes down a place so that no two places read the same: each part with its length in front.
struct SealedPlace {
    private(set) var bytes: [UInt8]

    /// A place of one kind, such as a token's value.
    init(_ kind: String) {
        bytes = []
        append(kind.utf8)
    }

    mutating func append(_ part: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).bigEndian) { bytes += $0 }
        if part.withContiguousStorageIfAvailable({ bytes += $0 }) == nil { bytes += part }
    }

    mutating func append(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

extension SealedPlace {
    private static let cookieKind: StaticString = "cookie"

    /// The place of a cookie's value: no row can be passed off as another one, and no flag or lifetime be changed
    /// without the value being lost. The last-access-time changes by itself and stays out.
    ///
    /// Written at once into memory of its length: values come by the hundred thousand.
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
            writer.write(
                (cookie.isHostOnly ? 1 : 0) | (cookie.isSecure ? 2 : 0) | (cookie.isHTTPOnly ? 4 : 0)
                    | Int64(cookie.sameSite.rawValue) << 3)
            writer.write(cookie.expiry == nil ? 0 : 1)
            writer.write(cookie.expiry?.microseconds ?? 0)
            writer.write(cookie.creation.microseconds)
            initializedCount = writer.count
        }
    }

    /// Writes parts one behind the other into memory that is large enough.
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
    /// The place that the value is sealed to.
    func sealedPlace(jarID: Int64) -> [UInt8] {
        SealedPlace.cookie(self, jarID: jarID)
    }
}
