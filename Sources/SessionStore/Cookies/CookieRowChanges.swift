internal import CookieModel
internal import GRDB

/// Changes of rows of the `cookie` table, in order, each written down as a statement takes it.
///
/// One run of bytes without a reference in it: it is handed to another thread at no cost, and SQLite reads what is bound
/// where it lies.
struct CookieRowChanges: Sendable {
    /// What is done with a row.
    enum Kind: UInt8 {
        case insertion, update, deletion
    }

    /// What every change begins with; the octets follow, one part behind the other.
    fileprivate struct Header: BitwiseCopyable {
        let kind: Kind
        let isHostOnly: Bool
        var isSecure = false
        var isHTTPOnly = false
        var sameSite: UInt8 = 0
        var hasURL = false
        let jarID: Int64
        let siteCount: Int
        let domainCount: Int
        let pathCount: Int
        let nameCount: Int
        let partitionCount: Int
        var valueCount = 0
        var urlCount = 0
        var expiry: Int64?
        var creation: Int64 = 0
        var sequence: Int64 = 0
        var lastAccess: Int64 = 0
        var captureID: Int64?
        var received: Int64?

        init(_ kind: Kind, _ id: borrowing Cookie.ID, partitionCount: Int, site: Octets, jarID: Int64) {
            self.kind = kind
            self.jarID = jarID
            isHostOnly = id.isHostOnly
            siteCount = site.count
            domainCount = id.domain.octets.count
            pathCount = id.path.count
            nameCount = id.name.count
            self.partitionCount = partitionCount
        }
    }

    private var bytes: [UInt8] = []

    /// No changes, and room for so many octets of them.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// How much room the changes take, in octets.
    var byteCount: Int { bytes.count }

    /// Forgets all changes, but not the room they took.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a change that gives a row its cookie: an insertion or an update.
    mutating func append(
        _ kind: Kind, _ cookie: borrowing Cookie, value: Octets, site: Octets, source: borrowing StoredCookie.Source,
        jarID: Int64
    ) {
        var partition = cookie.id.partitionKey?.serialized ?? ""
        let partitionCount = partition.utf8.count
        var header = Header(kind, cookie.id, partitionCount: partitionCount, site: site, jarID: jarID)
        header.isSecure = cookie.isSecure
        header.isHTTPOnly = cookie.isHTTPOnly
        header.sameSite = cookie.sameSite.rawValue
        header.hasURL = source.url != nil
        header.valueCount = value.count
        header.urlCount = source.url?.count ?? 0
        header.expiry = cookie.expiry?.microseconds
        header.creation = cookie.creation.microseconds
        header.sequence = cookie.sequence
        header.lastAccess = cookie.lastAccess.microseconds
        header.captureID = source.captureID
        header.received = source.received?.microseconds
        append(header, cookie.id, &partition, site: site)
        append(value)
        if let url = source.url { append(url) }
    }

    /// Adds the deletion of a row.
    mutating func appendDeletion(_ id: borrowing Cookie.ID, site: Octets, jarID: Int64) {
        var partition = id.partitionKey?.serialized ?? ""
        let partitionCount = partition.utf8.count
        append(
            Header(.deletion, id, partitionCount: partitionCount, site: site, jarID: jarID), id, &partition, site: site)
    }

    private mutating func append(
        _ header: Header, _ id: borrowing Cookie.ID, _ partition: inout String, site: Octets
    ) {
        withUnsafeBytes(of: header) { bytes += $0 }
        append(site)
        append(id.domain.octets)
        append(id.path)
        append(id.name)
        partition.withUTF8 { bytes += $0 }
    }

    private mutating func append(_ octets: Octets) {
        octets.withSpan { span in span.withUnsafeBytes { bytes += $0 } }
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

    /// One change, where it lies.
    struct Change {
        private let header: Header
        private let bytes: UnsafeRawBufferPointer

        /// The first change in `bytes`.
        fileprivate init(_ bytes: UnsafeRawBufferPointer) {
            header = bytes.loadUnaligned(as: Header.self)
            self.bytes = bytes
        }

        /// What is done with the row.
        var kind: Kind { header.kind }

        fileprivate var byteCount: Int { urlStart + header.urlCount }

        private var siteStart: Int { MemoryLayout<Header>.size }
        private var domainStart: Int { siteStart + header.siteCount }
        private var pathStart: Int { domainStart + header.domainCount }
        private var nameStart: Int { pathStart + header.pathCount }
        private var partitionStart: Int { nameStart + header.nameCount }
        private var valueStart: Int { partitionStart + header.partitionCount }
        private var urlStart: Int { valueStart + header.valueCount }

        private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        }

        /// The value, sealed to its row; `nil` for a deletion, which has none.
        func sealedValue(_ sealer: Sealer, _ nonces: inout NonceSequence) throws -> [UInt8]? {
            guard header.kind != .deletion else { return nil }
            let place = SealedPlace.cookie(
                jarID: header.jarID, domain: part(domainStart, header.domainCount),
                path: part(pathStart, header.pathCount), name: part(nameStart, header.nameCount),
                partition: part(partitionStart, header.partitionCount), isHostOnly: header.isHostOnly,
                isSecure: header.isSecure, isHTTPOnly: header.isHTTPOnly, sameSite: header.sameSite,
                expiry: header.expiry, creation: header.creation)
            return try sealer.seal(part(valueStart, header.valueCount), at: place, &nonces)
        }

        /// Runs the statement of ``kind``, whose parameters have the numbers of ``CookieRows/insertion``.
        ///
        /// - Parameter sealedValue: what goes into the row in the place of the value; `nil` for the value as it is.
        func run(_ statement: RowStatement, sealedValue: [UInt8]?) throws {
            // SQLite forgets where the octets lie before they go.
            defer { statement.releaseParameters() }
            statement.bind(1, header.jarID)
            statement.bind(2, inPlace: part(siteStart, header.siteCount))
            statement.bind(3, inPlace: part(domainStart, header.domainCount))
            statement.bind(4, inPlace: part(pathStart, header.pathCount))
            statement.bind(5, inPlace: part(nameStart, header.nameCount))
            statement.bind(6, header.isHostOnly)
            statement.bind(7, textInPlace: part(partitionStart, header.partitionCount))
            guard header.kind != .deletion else { return try statement.run() }
            statement.bind(9, header.isSecure)
            statement.bind(10, header.isHTTPOnly)
            statement.bind(11, Int64(header.sameSite))
            statement.bind(12, header.expiry)
            statement.bind(13, header.creation)
            statement.bind(14, header.sequence)
            statement.bind(15, header.lastAccess)
            statement.bind(16, header.captureID)
            statement.bind(17, textInPlace: header.hasURL ? part(urlStart, header.urlCount) : nil)
            statement.bind(18, header.received)
            if let sealedValue {
                try sealedValue.withUnsafeBytes { sealed in
                    statement.bind(8, inPlace: sealed)
                    try statement.run()
                }
            } else {
                statement.bind(8, inPlace: part(valueStart, header.valueCount))
                try statement.run()
            }
            // Whoever decided on an update has to know the rows: a cookie that is not there would be lost in silence.
            if header.kind == .update, statement.changeCount != 1 {
                throw DatabaseError(resultCode: .SQLITE_INTERNAL)
            }
        }
    }
}
