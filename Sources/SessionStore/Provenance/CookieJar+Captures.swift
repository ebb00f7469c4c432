public import CookieModel
internal import GRDB

/// A capture whose import has begun.
public struct CaptureID: Sendable, Hashable {
    let rawValue: Int64
}

extension CookieBatch {
    /// Says that with this batch the capture it comes from is imported whole: ``CookieJar/importedCapture(_:)`` knows it
    /// from then on.
    public mutating func finishCapture(_ digest: CaptureDigest) throws(SessionStoreError) {
        guard let captureID else { return }
        let rows = try writtenRows()
        try SessionStoreError.catching(path) {
            try CaptureRows(database: rows.database, jarID: rows.jarID).finish(captureID, digest.bytes)
        }
    }
}

extension CookieJar {
    /// The earlier import of the same octets into this jar, if it was finished.
    public func importedCapture(_ digest: CaptureDigest) throws(SessionStoreError) -> CaptureRecord? {
        try importedCapture(digest.bytes)
    }

    /// The same by the octets of the digest.
    package func importedCapture(_ digest: [UInt8]) throws(SessionStoreError) -> CaptureRecord? {
        try database.read { connection in
            try CaptureRows(database: connection, jarID: id).capture(digest)
        }
    }

    /// Begins the import of a capture: cookies stored in its name tell where they came from.
    ///
    /// - Parameters:
    ///   - name: what a person knows the capture by.
    ///   - isRequests: whether its cookies are those that requests sent; ``CookieOrigin/isRequest`` tells it.
    public func beginCapture(
        named name: String, ofRequests isRequests: Bool = false, now: Timestamp
    ) throws(SessionStoreError) -> CaptureID {
        CaptureID(
            rawValue: try database.write { connection in
                try CaptureRows(database: connection, jarID: id).insert(name, isRequests: isRequests, now: now)
            })
    }
}
