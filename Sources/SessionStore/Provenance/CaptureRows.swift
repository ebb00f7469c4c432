package import CookieModel
internal import Crypto

/// Rows of the `capture` table.
struct CaptureRows {
    let database: Connection
    let jarID: Int64

    /// The completely imported capture with that digest.
    func capture(_ digest: [UInt8]) throws -> CaptureRecord? {
        try database.statement(
            "SELECT name, imported_at FROM capture WHERE jar_id = ? AND digest = ?"
        ).first(jarID, digest) { row in
            CaptureRecord(name: row.text(0), imported: Timestamp(microseconds: row.int64(1)))
        }
    }

    /// Creates the record of a capture whose import begins. It has no digest until it was imported completely.
    ///
    /// - Parameter isRequests: whether its cookies come from requests.
    func insert(_ name: String, isRequests: Bool, now: Timestamp) throws -> Int64 {
        try database.statement(
            """
            INSERT INTO capture (jar_id, digest, name, imported_at, from_requests) VALUES (?, randomblob(8), ?, ?, ?)
            RETURNING id
            """
        ).returnedNumber(jarID, name, now, isRequests)
    }

    /// Adds the captures that another jar has imported to this jar.
    ///
    /// - Returns: the IDs in this jar by those in the other.
    func take(from otherID: Int64) throws -> [Int64: Int64] {
        try database.statement(
            """
            INSERT INTO capture (jar_id, digest, name, imported_at, from_requests)
            SELECT ?1, digest, name, imported_at, from_requests FROM capture WHERE jar_id = ?2 ORDER BY id
            ON CONFLICT (jar_id, digest) DO NOTHING
            """
        ).run(jarID, otherID)
        var ids: [Int64: Int64] = [:]
        try database.statement(
            """
            SELECT other.id, own.id FROM capture AS other JOIN capture AS own ON own.digest = other.digest
            WHERE other.jar_id = ?2 AND own.jar_id = ?1
            """
        ).forEach(jarID, otherID) { ids[$0.int64(0)] = $0.int64(1) }
        return ids
    }

    /// Allows every capture to be imported again. Otherwise an import would change nothing, although the jar no longer
    /// has the capture's cookies.
    ///
    /// The rows are kept, since cookies refer to them as their origin.
    func allowAgain() throws {
        try database.statement(
            "UPDATE capture SET digest = randomblob(8) WHERE jar_id = ? AND length(digest) = 32"
        ).run(jarID)
    }

    /// Marks a capture as completely imported. The record of an earlier import of the same octets is removed.
    func finish(_ id: Int64, _ digest: [UInt8]) throws {
        try database.statement(
            "UPDATE capture SET digest = randomblob(8) WHERE jar_id = ? AND digest = ?"
        ).run(jarID, digest)
        try database.statement("UPDATE capture SET digest = ? WHERE jar_id = ? AND id = ?").run(digest, jarID, id)
    }
}

/// A capture that was imported into a jar.
package struct CaptureRecord: Sendable, Hashable {
    /// Its name when it was imported, a path.
    package let name: String
    /// When it was imported.
    package let imported: Timestamp
}

/// The SHA-256 of a capture's octets and of the import's options. It identifies a repeated import.
package struct CaptureDigest: Sendable {
    private var hash = SHA256()

    /// Creates the digest of an empty capture.
    package init() {}

    /// Adds octets.
    package mutating func update(_ octets: some Sequence<UInt8>) {
        var octets = Array(octets)
        octets.withUnsafeMutableBytes { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    }

    /// Adds the octets of a buffer, without a copy.
    package mutating func update(_ octets: ArraySlice<UInt8>) {
        octets.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    /// The digest of all added octets.
    package var bytes: [UInt8] { Array(hash.finalize()) }
}

/// A capture whose import has begun.
package struct CaptureID: Sendable, Hashable {
    let rawValue: Int64
}

extension CookieBatch {
    /// Records that this batch completes the import of its capture. From then on, ``CookieJar/importedCapture(_:)``
    /// finds it.
    package mutating func finishCapture(_ digest: CaptureDigest) throws(SessionStoreError) {
        guard let captureID else { return }
        let rows = try writtenRows()
        try SessionStoreError.catching(path) {
            try CaptureRows(database: rows.database, jarID: rows.jarID).finish(captureID, digest.bytes)
        }
    }
}

extension CookieJar {
    /// The earlier import of the same octets into this jar, if it was finished.
    package func importedCapture(_ digest: CaptureDigest) throws(SessionStoreError) -> CaptureRecord? {
        try importedCapture(digest.bytes)
    }

    /// The same for the octets of the digest.
    package func importedCapture(_ digest: [UInt8]) throws(SessionStoreError) -> CaptureRecord? {
        try database.read { connection in
            try CaptureRows(database: connection, jarID: id).capture(digest)
        }
    }

    /// Begins the import of a capture. Cookies stored with its identifier have the capture as their origin.
    ///
    /// - Parameters:
    ///   - name: the name that the user gave the capture.
    ///   - isRequests: whether its cookies come from requests; see ``CookieOrigin/isRequest``.
    package func beginCapture(
        named name: String, ofRequests isRequests: Bool = false, now: Timestamp? = nil
    ) throws(SessionStoreError) -> CaptureID {
        let now = now ?? database.clock.now
        return CaptureID(
            rawValue: try database.write(.jar(id)) { connection in
                try CaptureRows(database: connection, jarID: id).insert(name, isRequests: isRequests, now: now)
            })
    }
}
