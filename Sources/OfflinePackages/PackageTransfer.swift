package import WebPrimitives

/// The download of a package in several attempts (RFC 9110, section 14): what to request, and what a response means.
package struct PackageTransfer: Sendable, Hashable {
    /// What to do with the body of a response.
    package enum Step: Sendable, Hashable {
        /// Write it from this position on. What is there after it is dropped.
        case write(from: Int64)
        /// Everything is here already.
        case complete
        /// The part is of no use. Drop it, and request the whole.
        case restart
    }

    /// How many octets are here.
    package var length: Int64
    /// The strong entity tag of the response that they came with; `nil` without one.
    package var validator: String?
    /// How many octets the whole file has; `nil` if the server has not told.
    private var total: Int64?

    package init(length: Int64 = 0, validator: String? = nil) {
        // Without a validator, the rest may be that of another file.
        self.length = validator == nil ? 0 : length
        self.validator = validator
    }

    /// The fields of the next request. A content coding would be a part of another representation.
    package var fields: [(name: String, value: String)] {
        let coding = [("Accept-Encoding", "identity")]
        guard length > 0, let validator else { return coding }
        return coding + [("Range", "bytes=\(length)-"), ("If-Range", validator)]
    }

    /// Decides on a response.
    ///
    /// - Parameter field: Returns the value of a field of the response by its name in lower case.
    /// - Throws: ``PackageError/Code/notFetched`` if the server does not have the file.
    package mutating func step(
        status: Int, field: (String) -> String?, limit: Int64 = PackageLimits().fileLength
    ) throws(PackageError) -> Step {
        switch status {
        case 200:
            let stated = field("content-length").flatMap { Int64($0) }
            guard stated.map({ $0 <= limit }) ?? true else { throw PackageTransfer.tooLong(limit) }
            length = 0
            total = stated
            validator = field("etag").flatMap(PackageTransfer.strong)
            return .write(from: 0)
        case 206 where length > 0:
            // RFC 9110, section 15.3.7: a sender of a 206 to If-Range has the same representation. A server that has
            // another one and errs must not be believed.
            guard let range = PackageTransfer.range(field("content-range")), range.first == length,
                field("etag").map({ $0 == validator }) ?? true
            else { return .restart }
            guard range.total.map({ $0 <= limit }) ?? true else { throw PackageTransfer.tooLong(limit) }
            total = range.total
            return .write(from: length)
        case 416 where length > 0:
            return PackageTransfer.total(field("content-range")) == length ? .complete : .restart
        default:
            throw PackageError(
                .notFetched, "the server answers with status \(status) and not with the package; check the URL")
        }
    }

    /// Notes that the body of a response has ended at a position.
    ///
    /// - Returns: Whether all of the file is here; `nil` if the server has not told its length.
    package mutating func end(at position: Int64) -> Bool? {
        length = validator == nil ? 0 : position
        return total.map { position >= $0 }
    }

    package static func tooLong(_ limit: Int64) -> PackageError {
        PackageError(.notFetched, "the file has more than \(limit) octets; a package is shorter. Check the URL")
    }

    /// The tag if it is a strong one.
    private static func strong(_ tag: String) -> String? {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count <= 1000 ? tag : nil
    }

    /// `bytes FIRST-LAST/TOTAL`, with `*` for an unknown total.
    private static func range(_ value: String?) -> (first: Int64, total: Int64?)? {
        guard let value, value.hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else { return nil }
        if parts[1] == "*" { return (first, nil) }
        guard let total = Int64(parts[1]), last < total else { return nil }
        return (first, total)
    }

    /// `bytes */TOTAL`
    private static func total(_ value: String?) -> Int64? {
        guard let value, value.hasPrefix("bytes */") else { return nil }
        return Int64(value.dropFirst(8))
    }
}

extension RequestURL {
    /// The URL that a redirect of a download leads to.
    ///
    /// - Throws: ``PackageError/Code/notFetched`` if it is missing, no http or https URL, or gives up encryption or the way
    ///   within this machine.
    package func downloadRedirect(to location: String?) throws(PackageError) -> RequestURL {
        guard let location, let target = try? resolving(Octets(location)),
            target.scheme == .http || target.scheme == .https
        else { throw PackageError(.notFetched, "\(origin) redirects to no http or https URL; check the URL") }
        guard target.scheme == .https || scheme == .http else {
            throw PackageError(
                .notFetched, "\(origin) redirects from https to http, where others can change the file; check the URL")
        }
        // A package that begins here needs no known key, so it must not come over a network without encryption.
        guard target.scheme == .https || target.host.isLoopback || !host.isLoopback else {
            throw PackageError(
                .notFetched, "\(origin) redirects to http, where others can change the file; check the URL")
        }
        return target
    }
}
