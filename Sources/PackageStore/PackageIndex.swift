import OfflinePackages
import WebPrimitives

/// The packages of one jar: a sealed file, which is replaced as a whole with every change.
struct PackageIndex: Sendable, Codable {
    /// A version of a package, whose bodies are in a bundle.
    struct Version: Sendable, Codable {
        var version: String
        /// When it was added, in microseconds since 1970.
        var added: Int64
        /// The name of its bundle, and the key of that.
        var bundle: String
        var key: String
        /// Where the manifest is in the bundle, and the places of the bodies after it.
        var manifest: PackageBundle.Place
        var places: PackageBundle.Place
        var resources: Int
        var length: Int64
        var origins: [String]
        /// `true` if it is not signed. A later version may be, and pin its key.
        var isUnsigned: Bool?
    }

    struct Package: Sendable, Codable {
        var name: String
        var current: Version
        /// The version that a rollback brings back.
        var previous: Version?
        /// The key that every new version has to be signed with, in Base64.
        var signer: String?
        /// The only origins that a version may answer for; `nil` for all that it names.
        var allowedOrigins: [String]?
        /// When it was removed; `nil` if it is in use.
        var removed: Int64?
    }

    /// The version of the format that this program reads and writes. A program that does not know a member drops it with
    /// the next change, so an index with a new member has a new version.
    static let currentFormat = 1
    var format = PackageIndex.currentFormat
    var packages: [Package] = []

    /// The names of the bundles that are in use.
    var bundles: Set<String> { Set(packages.flatMap { [$0.current, $0.previous].compactMap { $0?.bundle } }) }

    /// The place of a package that is in use or was removed.
    func position(of name: String) -> Int? { packages.firstIndex { $0.name == name } }
}
