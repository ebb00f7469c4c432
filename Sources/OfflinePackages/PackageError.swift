/// The reason why a package is not used: a stable code, and one sentence that a user can act on.
package struct PackageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable codes, which are those of the command's failures.
    package enum Code: String, Sendable {
        /// The file is not a package, or breaks a rule of the format.
        case invalid = "package-invalid"
        /// The signature, the key or an origin does not permit it.
        case refused = "package-refused"
        /// The version is not newer than the stored one.
        case outdated = "package-outdated"
        /// The jar has no such package, or no earlier version of it.
        case notFound = "package-not-found"
        /// The server did not send it.
        case notFetched = "package-not-fetched"
        /// A stored package was changed or cannot be opened.
        case damaged = "value-damaged"
        /// A newer version of the program has written the list of packages.
        case newer = "database-newer"
        case diskFull = "disk-full"
        case notWritten = "file-not-written"
        case unreadable = "input-unreadable"
    }

    package let code: Code
    /// The event, its subject, the cause and the next step.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func invalid(_ description: String) -> PackageError { PackageError(.invalid, description) }
}

/// The most that a package may contain. They bound the time, memory and disk that any file can cost.
package struct PackageLimits: Sendable {
    /// How many octets the file has.
    package var fileLength: Int64 = 1 << 30
    /// How many entries the archive has, folders included.
    package var entries = 20_000
    /// How many octets the directory of the archive has.
    package var directoryLength = 32 << 20
    /// How many octets the manifest has.
    package var manifestLength: Int64 = 8 << 20
    /// How many resources the manifest names.
    package var resources = 10_000
    /// How many octets one resource has.
    package var resourceLength: Int64 = 128 << 20
    /// How many octets all resources have.
    package var totalLength: Int64 = 1 << 30
    /// How many times longer than its compressed form an entry may be, if it is longer than ``ratioFreeLength``.
    package var ratio: Int64 = 200
    /// Up to this length, an entry may be compressed as well as Deflate can.
    package var ratioFreeLength: Int64 = 1 << 20

    package init() {}
}
