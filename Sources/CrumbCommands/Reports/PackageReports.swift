import CookieModel
import OAuth2
import OfflinePackages
import PackageStore
import SessionOperations

/// A package, for the output of commands.
struct PackageReport: Encodable {
    let jar: String
    let name: String
    let version: String
    let previous: String?
    let added: String
    let resources: Int
    let octets: Int64
    let origins: [String]
    let allowedOrigins: [String]?
    /// Whether this version is signed. A key may be pinned by another one.
    let signed: Bool
    let key: String?
    let removed: String?

    init(_ package: PackageStore.Package, in jar: String) {
        self.jar = jar
        name = package.name
        version = package.current.version
        previous = package.previous?.version
        added = package.current.added.rfc3339
        resources = package.current.resources
        octets = package.current.length
        origins = package.current.origins
        allowedOrigins = package.allowedOrigins
        signed = package.current.isSigned
        key = package.signer.map { Base64.text($0) }
        removed = package.removed?.rfc3339
    }

    /// The cells of its row in a table.
    var cells: [String] {
        [
            name, removed == nil ? version : "\(version) (removed)", "\(resources)", "\(octets)",
            signed ? "yes" : "no", previous ?? "-", origins.joined(separator: " "),
        ]
    }

    var sentence: String {
        "package '\(name)' \(version): \(counted(resources, "resource")), \(counted(Int(octets), "octet")), for "
            + origins.joined(separator: ", ")
    }
}

/// A package with its URLs.
struct PackageDetails: Encodable {
    struct Resource: Encodable {
        let url: String
        let status: Int
        let octets: Int64
        let sha256: String
    }

    let package: PackageReport
    let resources: [Resource]

    init(package: PackageReport, manifest: PackageManifest) {
        self.package = package
        resources = manifest.resources.map {
            Resource(url: $0.url.description, status: $0.status, octets: $0.length, sha256: $0.digest)
        }
    }
}

/// The files with the keys of packages.
enum PackageKeyFile {
    private static let limit = 1 << 14

    /// The public key in a PEM file.
    static func publicKey(_ path: String) throws -> Octets {
        let text = String(
            decoding: try InputFile(path).contents(limit: limit, otherwise: .packageRefused), as: UTF8.self)
        guard let octets = PEMText.contents(of: "PUBLIC KEY", in: text), let key = PackageKey.publicKey(octets) else {
            throw CommandFailure(
                .packageRefused,
                "\(path): this is not an Ed25519 public key in PEM; 'openssl pkey -in KEYFILE -pubout' writes it")
        }
        return key
    }

    /// The private key in a PEM file that only its owner can read.
    static func privateKey(_ path: String) throws -> PackageKey {
        try SecretFile.check(path)
        let text = String(
            decoding: try InputFile(path).contents(limit: limit, otherwise: .packageRefused), as: UTF8.self)
        guard let octets = PEMText.contents(of: "PRIVATE KEY", in: text), let key = PackageKey(privateKey: octets)
        else {
            throw CommandFailure(
                .packageRefused,
                "\(path): this is not an Ed25519 private key in PEM; 'openssl genpkey -algorithm ed25519' makes one")
        }
        return key
    }
}
