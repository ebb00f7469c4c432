import Crypto
package import WebPrimitives

/// A package file, as far as it is checked without reading the bodies.
package struct PackageArchive: Sendable {
    private let source: any ZipSource
    private let directory: ZipDirectory
    private let limits: PackageLimits
    /// The octets of the manifest, which are signed.
    private let manifestOctets: [UInt8]
    private let signature: [UInt8]?
    package let manifest: PackageManifest

    /// Opens a package: reads its directory and its manifest.
    package init(_ source: some ZipSource, limits: PackageLimits = PackageLimits()) throws(PackageError) {
        self.source = source
        self.limits = limits
        directory = try ZipDirectory(source, limits: limits)
        guard let entry = directory.entries[PackageManifest.fileName] else {
            throw .invalid(
                "the archive has no \(PackageManifest.fileName) at its top; make a package with 'crumb gateway package "
                    + "build'")
        }
        guard entry.length <= limits.manifestLength else {
            throw .invalid("the manifest has more than \(limits.manifestLength) octets; make several packages")
        }
        var reader = ZipEntryReader(entry, of: source)
        manifestOctets = try reader.readAll()
        manifest = try PackageManifest(parsing: manifestOctets, limits: limits)
        if let entry = directory.entries[PackageManifest.signatureName] {
            guard entry.length == 64 else {
                throw PackageError(
                    .refused, "\(PackageManifest.signatureName) has not the 64 octets of an Ed25519 signature")
            }
            var reader = ZipEntryReader(entry, of: source)
            signature = try reader.readAll()
        } else {
            signature = nil
        }
        var total: Int64 = 0
        for resource in manifest.resources {
            guard let entry = directory.entries[resource.file] else {
                throw .invalid("\(resource.url): its file '\(resource.file.prefix(100))' is not in the archive")
            }
            guard entry.length == resource.length else {
                throw .invalid(
                    "\(resource.url): its file has \(entry.length) octets, and the manifest says \(resource.length)")
            }
            total += entry.length
            // One file may be the body of many resources.
            guard total <= limits.totalLength else {
                throw .invalid("the resources have more than \(limits.totalLength) octets; make several packages")
            }
        }
    }

    /// Checks the signature.
    ///
    /// - Parameter pinned: The key that the package has to be signed with; `nil` if any key will do, or none.
    /// - Returns: The key that has signed it; `nil` if it is not signed.
    package func verifiedKey(pinned: Octets?) throws(PackageError) -> Octets? {
        let name = manifest.name
        guard let signature else {
            guard pinned == nil, manifest.key == nil else {
                throw PackageError(
                    .refused,
                    "package '\(name)' must be signed, and has no signature; nothing was changed. Get it from its "
                        + "publisher again")
            }
            return nil
        }
        guard let key = pinned ?? manifest.key else {
            throw PackageError(
                .refused,
                "package '\(name)' is signed, and its manifest names no key; give the publisher's with --key FILE")
        }
        guard manifest.key.map({ $0 == key }) ?? true else {
            throw PackageError(
                .refused,
                "package '\(name)' is signed with another key than the known one; nothing was changed. If its publisher "
                    + "has a new key, remove the package and add it again")
        }
        guard PackageKey.isValid(signature, of: manifestOctets, by: key) else {
            throw PackageError(
                .refused,
                "the signature of package '\(name)' is wrong; nothing was changed. Get it from its publisher again")
        }
        return key
    }

    /// Reads the body of a resource piece by piece, and checks its length and digest at the end.
    package func read(
        _ resource: PackageManifest.Resource, _ take: ([UInt8]) throws(PackageError) -> Void
    ) throws(PackageError) {
        guard let entry = directory.entries[resource.file] else { throw .damaged }
        var (reader, hash) = (ZipEntryReader(entry, of: source), SHA256())
        while let piece = try reader.next() {
            hash.update(data: piece)
            try take(piece)
        }
        guard Hexadecimal.text(hash.finalize()) == resource.digest else {
            throw .invalid(
                "\(resource.url): its file does not have the digest of the manifest; nothing was changed. Build or "
                    + "download the package again")
        }
    }
}
