package import WebPrimitives

/// The manifest of a package: which URLs it answers, with which files.
package struct PackageManifest: Sendable, Hashable {
    /// The name of the manifest in the archive.
    package static let fileName = "crumb-package.json"
    /// The name of the signature over the octets of the manifest.
    package static let signatureName = "crumb-package.sig"

    /// A response that the package has.
    package struct Resource: Sendable, Hashable {
        /// The URL that it answers, with its query.
        package let url: RequestURL
        /// The name of its file in the archive.
        package let file: String
        package let status: Int
        /// The fields of the response, sorted by name.
        package let fields: [Field]
        /// The SHA-256 digest of its body, in lower-case hexadecimal digits.
        package let digest: String
        /// How many octets its body has.
        package let length: Int64

        package init(
            url: RequestURL, file: String, status: Int = 200, fields: [Field], digest: String, length: Int64
        ) {
            self.url = url
            self.file = file
            self.status = status
            self.fields = fields
            self.digest = digest
            self.length = length
        }
    }

    /// A field of a response.
    package struct Field: Sendable, Hashable, Codable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// How many octets its name and its value have.
        var length: Int { name.utf8.count + value.utf8.count }
        /// Whether its value has no control character but tabs.
        var hasValidValue: Bool { value.utf8.allSatisfy { $0 == ASCII.tab || $0 >= 0x20 && $0 != 0x7F } }
    }

    package let name: String
    package let version: PackageVersion
    /// The Ed25519 key of the signer, 32 octets; `nil` if the package is not signed.
    package let key: Octets?
    package let resources: [Resource]

    /// Creates a manifest that keeps every rule.
    package init(name: String, version: PackageVersion, key: Octets? = nil, resources: [Resource]) throws(PackageError)
    {
        self.name = name
        self.version = version
        self.key = key
        self.resources = resources
        try check()
    }

    /// The origins that the package answers for, each once, in order.
    package var origins: [String] { Set(resources.map(\.url.origin)).sorted() }

    /// How many octets all bodies have.
    package var length: Int64 { resources.reduce(0) { $0 + $1.length } }
}

// MARK: - Rules

extension PackageManifest {
    /// The statuses that a resource may have.
    package static let statuses: Set<Int> = [200, 301, 302, 307, 308, 404, 410]

    /// The fields that a resource may have, in lower case. All others frame a message, belong to the moment of a response
    /// or to a user, or have no meaning without the server.
    package static let fieldNames: Set<String> = [
        "access-control-allow-credentials", "access-control-allow-headers", "access-control-allow-methods",
        "access-control-allow-origin", "access-control-expose-headers", "cache-control", "content-disposition",
        "content-language", "content-location", "content-security-policy", "content-security-policy-report-only",
        "content-type", "cross-origin-embedder-policy", "cross-origin-opener-policy", "cross-origin-resource-policy",
        "etag", "last-modified", "link", "location", "origin-agent-cluster", "permissions-policy", "referrer-policy",
        "service-worker-allowed", "sourcemap", "timing-allow-origin", "x-content-type-options", "x-frame-options",
        "x-robots-tag",
    ]

    static let urlLimit = 8 << 10
    static let fieldLimit = 16 << 10

    /// Whether a text can name a package: letters, digits, `.`, `_` and `-`, in lower case, at most 64.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet) || ASCII.isDigit(octet)
                    || "._-".utf8.contains(octet)
            } && text.utf8.first.map { ASCII.isLetter($0) || ASCII.isDigit($0) } == true
    }

    private func check() throws(PackageError) {
        guard PackageManifest.isName(name) else {
            throw .invalid(
                "the manifest's name is not one of a package: use 1 to 64 of a-z, 0-9, '.', '_' and '-', and begin "
                    + "with a letter or digit")
        }
        guard key.map({ $0.count == 32 }) ?? true else {
            throw .invalid("the manifest's key is not an Ed25519 key: write its 32 octets in Base64")
        }
        guard !resources.isEmpty else { throw .invalid("the manifest names no resource: add one") }
        var known: Set<RequestURL> = []
        for resource in resources {
            guard known.insert(resource.url).inserted else {
                throw .invalid("the manifest names \(resource.url) twice: remove one of the two")
            }
            try check(resource)
        }
    }

    private func check(_ resource: Resource) throws(PackageError) {
        let url = resource.url
        guard url.scheme == .http || url.scheme == .https else {
            throw .invalid("the manifest names \(url): only http and https URLs can be in a package")
        }
        guard url.description.utf8.count <= PackageManifest.urlLimit else {
            throw .invalid("the manifest has a URL of \(url.origin) with more than 8192 octets: shorten it")
        }
        guard PackageManifest.statuses.contains(resource.status) else {
            let statuses = PackageManifest.statuses.sorted().map(String.init).joined(separator: ", ")
            throw .invalid("\(url): status \(resource.status) cannot be in a package; use one of \(statuses)")
        }
        guard resource.digest.utf8.count == 64,
            resource.digest.utf8.allSatisfy({
                ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { throw .invalid("\(url): its sha256 is not 64 hexadecimal digits in lower case") }
        guard resource.length >= 0 else { throw .invalid("\(url): its length is negative") }
        var names: Set<String> = []
        var count = 0
        for field in resource.fields {
            let name = field.name.lowercased()
            guard PackageManifest.fieldNames.contains(name) else {
                throw .invalid("\(url): the field '\(field.name)' cannot be in a package; remove it")
            }
            guard names.insert(name).inserted else {
                throw .invalid("\(url): the field '\(field.name)' is there twice; join its values with commas")
            }
            guard field.hasValidValue else {
                throw .invalid("\(url): the value of '\(field.name)' has a control character; remove it")
            }
            count += field.length
        }
        guard count <= PackageManifest.fieldLimit else {
            throw .invalid("\(url): its fields have more than 16384 octets; remove some")
        }
        guard (300..<400).contains(resource.status) == names.contains("location") else {
            throw .invalid("\(url): a redirect has a Location field, and no other resource has one")
        }
    }

    /// Refuses a package that answers for other origins than those.
    package func check(within origins: Set<String>) throws(PackageError) {
        let others = self.origins.filter { !origins.contains($0) }
        guard others.isEmpty else {
            throw PackageError(
                .refused,
                "the package answers for \(others.joined(separator: ", ")), which --origin does not name; nothing was "
                    + "changed. If you trust it with them, name each with --origin")
        }
    }
}
