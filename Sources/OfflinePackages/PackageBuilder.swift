import Crypto
package import WebPrimitives

/// Makes a package out of responses. It leaves out what must not be in one, and says so.
package struct PackageBuilder: Sendable {
    /// A response that may become a resource.
    package struct Response: Sendable {
        package var url: RequestURL
        package var method = "GET"
        package var status = 200
        package var fields: [PackageManifest.Field]
        /// Whether the request had a cookie or `Authorization`, or the response sets a cookie.
        package var hasCredentials = false
        package var body: [UInt8]

        package init(url: RequestURL, fields: [PackageManifest.Field], body: [UInt8]) {
            self.url = url
            self.fields = fields
            self.body = body
        }
    }

    /// A response or a file that is not in the package.
    package struct Omission: Sendable, Hashable {
        /// Its URL without the query, or its path.
        package let subject: String
        package let reason: String

        package init(_ subject: String, _ reason: String) {
            self.subject = subject
            self.reason = reason
        }
    }

    /// Whether responses to requests with credentials are packaged, too.
    package var includesCredentials = false
    private let limits: PackageLimits
    private var resources: [PackageManifest.Resource] = []
    /// How many octets all resources have.
    private var length: Int64 = 0
    /// The bodies by their digest.
    private var bodies: [String: [UInt8]] = [:]
    private var urls: Set<RequestURL> = []
    /// What was left out, in order.
    package private(set) var omissions: [Omission] = []

    package init(limits: PackageLimits = PackageLimits()) {
        self.limits = limits
    }

    /// How many resources there are.
    package var count: Int { resources.count }

    /// Notes that something is not in the package.
    package mutating func omit(_ subject: String, _ reason: String) {
        omissions.append(Omission(subject, reason))
    }

    /// Adds a response, or notes why it is left out.
    ///
    /// - Throws: ``PackageError/Code/invalid`` if the package would have more than the limits permit.
    package mutating func add(_ response: Response) throws(PackageError) {
        if let reason = refusal(of: response) {
            let url = String(decoding: response.url.withoutQuery, as: UTF8.self)
            return omit(url, reason)
        }
        guard resources.count < limits.resources else {
            throw .invalid("the package would have more than \(limits.resources) resources; make several packages")
        }
        length += Int64(response.body.count)
        guard length <= limits.totalLength else { throw tooLong }
        urls.insert(response.url)
        let digest = Hexadecimal.text(SHA256.hash(data: response.body))
        bodies[digest] = response.body
        resources.append(
            PackageManifest.Resource(
                url: response.url, file: "files/\(digest)", status: response.status,
                fields: PackageBuilder.packaged(response.fields), digest: digest, length: Int64(response.body.count)))
    }

    /// The reason why a response cannot be in a package; `nil` if it can.
    private func refusal(of response: Response) -> String? {
        func value(_ name: String) -> String {
            response.fields.filter { $0.name.lowercased() == name }.map(\.value).joined(separator: ",").lowercased()
        }
        guard response.method == "GET" else { return "its method is \(response.method), and a package answers GET" }
        guard response.url.scheme == .http || response.url.scheme == .https else { return "it is not http or https" }
        // Redirects mostly depend on the user, and errors on the moment.
        guard response.status == 200 else { return "its status is \(response.status)" }
        if !includesCredentials, response.hasCredentials {
            return "its request or response has credentials; --with-credentials packages it"
        }
        if !includesCredentials {
            for directive in ["no-store", "private"] where value("cache-control").contains(directive) {
                return "it has Cache-Control: \(directive); --with-credentials packages it"
            }
        }
        guard value("vary").split(separator: ",").allSatisfy({ $0.filter { $0 != " " } == "accept-encoding" }) else {
            return "it depends on fields of the request (Vary)"
        }
        guard response.body.count <= limits.resourceLength else { return "it has more than 128 MiB" }
        guard !urls.contains(response.url) else { return "an earlier response to the URL is in the package" }
        guard response.url.description.utf8.count <= PackageManifest.urlLimit else {
            return "its URL has more than \(PackageManifest.urlLimit) octets"
        }
        let fields = PackageBuilder.packaged(response.fields)
        guard fields.reduce(0, { $0 + $1.length }) <= PackageManifest.fieldLimit else {
            return "its fields have more than \(PackageManifest.fieldLimit) octets"
        }
        if let field = fields.first(where: { !$0.hasValidValue }) {
            return "the value of '\(field.name)' has a control character"
        }
        return nil
    }

    private var tooLong: PackageError {
        .invalid("the package would have more than \(limits.totalLength) octets; make several packages")
    }

    /// The fields that a package may have. Lines of one name are joined.
    private static func packaged(_ fields: [PackageManifest.Field]) -> [PackageManifest.Field] {
        var values: [String: [String]] = [:]
        for field in fields {
            let name = field.name.lowercased()
            guard PackageManifest.fieldNames.contains(name), name != "location" else { continue }
            values[name, default: []].append(field.value)
        }
        return values.map { PackageManifest.Field($0.key, $0.value.joined(separator: ", ")) }
            .sorted { $0.name < $1.name }
    }

    /// Writes the package.
    ///
    /// - Parameters:
    ///   - key: The key to sign it with; `nil` for none.
    ///   - take: Takes the octets of the file, in order.
    /// - Returns: Its manifest.
    package func write(
        name: String, version: PackageVersion, signedBy key: PackageKey?, _ take: ([UInt8]) throws -> Void
    ) throws -> PackageManifest {
        let manifest = try PackageManifest(
            name: name, version: version, key: key?.publicKey,
            resources: resources.sorted { $0.url.description < $1.url.description })
        let octets = try manifest.octets()
        guard octets.count <= limits.manifestLength else {
            throw PackageError.invalid(
                "the manifest would have more than \(limits.manifestLength) octets; make several packages")
        }
        var (writer, written) = (ZipWriter(), Int64(0))
        func write(_ octets: [UInt8]) throws {
            written += Int64(octets.count)
            guard written <= min(limits.fileLength, limits.totalLength) else { throw tooLong }
            try take(octets)
        }
        try write(try writer.entry(PackageManifest.fileName, octets))
        if let key { try write(try writer.entry(PackageManifest.signatureName, try key.signature(of: octets))) }
        for (digest, body) in bodies.sorted(by: { $0.key < $1.key }) {
            try write(try writer.entry("files/\(digest)", body))
        }
        try write(writer.end())
        return manifest
    }
}
