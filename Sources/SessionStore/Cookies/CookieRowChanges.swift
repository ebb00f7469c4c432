internal import CookieModel

/// Changes of rows of the `cookie` table, in order, each in the form that a statement needs.
///
/// They are one block of bytes, from which SQLite reads bound values in place.
struct CookieRowChanges: Sendable {
    /// The operation on a row.
    enum Kind: UInt8 {
        case insertion, update, deletion
    }

    /// The beginning of every change. The site, the URL and the packed cookie follow, in this order.
    fileprivate struct Header: BitwiseCopyable {
        let kind: Kind
        let hasURL: Bool
        let jarID: Int64
        let siteCount: Int
        let urlCount: Int
        let captureID: Int64?
        let received: Int64?
    }

    private var bytes: [UInt8] = []

    /// Creates an empty list, with capacity for the given number of octets.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Removes all changes, but keeps their memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds an insertion or an update.
    mutating func append(
        _ kind: Kind, _ cookie: borrowing Cookie, site: Octets, source: borrowing StoredCookie.Source, jarID: Int64
    ) {
        append(
            Header(
                kind: kind, hasURL: source.url != nil, jarID: jarID, siteCount: site.count,
                urlCount: source.url?.count ?? 0, captureID: source.captureID, received: source.received?.microseconds),
            site: site, url: source.url, cookie)
    }

    /// Adds the deletion of a row.
    mutating func appendDeletion(_ id: borrowing Cookie.ID, site: Octets, jarID: Int64) {
        append(
            Header(
                kind: .deletion, hasURL: false, jarID: jarID, siteCount: site.count, urlCount: 0, captureID: nil,
                received: nil),
            site: site, url: nil,
            Cookie(
                id: copy id, value: [], isSecure: false, isHTTPOnly: false, sameSite: .default, expiry: nil,
                creation: .distantPast, lastAccess: .distantPast))
    }

    private mutating func append(_ header: Header, site: Octets, url: Octets?, _ cookie: borrowing Cookie) {
        withUnsafeBytes(of: header) { bytes += $0 }
        site.withOctets { bytes += $0 }
        url?.withOctets { bytes += $0 }
        PackedCookie.append(cookie, to: &bytes)
    }

    /// Calls `body` with every change, in order.
    func forEach(_ body: (borrowing Change) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let change = Change(UnsafeRawBufferPointer(rebasing: rest))
                try body(change)
                rest = rest.dropFirst(change.byteCount)
            }
        }
    }

    /// One change, in place.
    struct Change {
        private let header: Header
        private let bytes: UnsafeRawBufferPointer
        private let cookie: PackedCookie

        /// The first change in `bytes`.
        fileprivate init(_ bytes: UnsafeRawBufferPointer) {
            header = bytes.loadUnaligned(as: Header.self)
            self.bytes = bytes
            cookie = PackedCookie(
                bytes: bytes, offset: MemoryLayout<Header>.size + header.siteCount + header.urlCount)
        }

        /// The operation on the row.
        var kind: Kind { header.kind }

        fileprivate var byteCount: Int { urlStart + header.urlCount + cookie.byteCount }

        private var siteStart: Int { MemoryLayout<Header>.size }
        private var urlStart: Int { siteStart + header.siteCount }

        private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        }

        /// The value, sealed to its row; `nil` for a deletion.
        func sealedValue(_ sealer: Sealer, _ nonces: inout NonceSequence) throws -> [UInt8]? {
            guard header.kind != .deletion else { return nil }
            return try sealer.seal(cookie.valueOctets, at: cookie.sealedPlace(jarID: header.jarID), &nonces)
        }

        /// Runs the statement of ``kind``, whose parameters have the numbers of ``CookieRows/insertion``.
        ///
        /// - Parameter sealedValue: the octets to store in place of the value; `nil` to store the value itself.
        func run(_ statement: Statement, sealedValue: [UInt8]?) throws {
            // SQLite must release the octets before they are deallocated.
            defer { statement.releaseParameters() }
            statement.bind(1, header.jarID)
            statement.bind(2, inPlace: part(siteStart, header.siteCount))
            statement.bind(3, inPlace: cookie.domainOctets)
            statement.bind(4, inPlace: cookie.pathOctets)
            statement.bind(5, inPlace: cookie.nameOctets)
            statement.bind(6, cookie.isHostOnly)
            statement.bind(7, textInPlace: cookie.partitionOctets)
            guard header.kind != .deletion else { return try statement.run() }
            statement.bind(9, cookie.isSecure)
            statement.bind(10, cookie.isHTTPOnly)
            statement.bind(11, Int64(cookie.sameSite.rawValue))
            statement.bind(12, cookie.expiry?.microseconds)
            statement.bind(13, cookie.creation.microseconds)
            statement.bind(14, cookie.sequence)
            statement.bind(15, cookie.lastAccess.microseconds)
            statement.bind(16, header.captureID)
            statement.bind(17, textInPlace: header.hasURL ? part(urlStart, header.urlCount) : nil)
            statement.bind(18, header.received)
            if let sealedValue {
                try sealedValue.withUnsafeBytes { sealed in
                    statement.bind(8, inPlace: sealed)
                    try store(statement)
                }
            } else {
                statement.bind(8, inPlace: cookie.valueOctets)
                try store(statement)
            }
        }

        private func store(_ statement: Statement) throws {
            // An update needs an existing row: otherwise the cookie would be lost without an error.
            if header.kind == .update { try statement.runChangingOneRow() } else { try statement.run() }
        }
    }
}
