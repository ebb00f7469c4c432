import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PackageManifest {
    /// The version of the format.
    private static let format = 1

    /// The JSON of a manifest.
    private struct Document: Codable {
        struct Resource: Codable {
            var url: String
            var file: String
            var status: Int?
            var fields: [String: String]?
            var sha256: String
            var length: Int64
        }

        var format: Int
        var name: String
        var version: String
        var base: String?
        var key: String?
        var resources: [Resource]
    }

    private static let members: Set = ["format", "name", "version", "base", "key", "resources"]
    private static let resourceMembers: Set = ["url", "file", "status", "fields", "sha256", "length"]

    /// The members of a document and of its resources that this version does not know.
    private struct Members: Decodable {
        struct Resource: Decodable {
            let unknown: String?

            init(from decoder: any Decoder) throws {
                unknown = try decoder.firstMember(besides: resourceMembers)?.stringValue
            }
        }

        let unknown: String?

        init(from decoder: any Decoder) throws {
            unknown =
                try decoder.firstMember(besides: members)?.stringValue
                ?? decoder.container(keyedBy: AnyMember.self)
                .decode([Resource].self, forKey: AnyMember(stringValue: "resources")).lazy.compactMap(\.unknown).first
        }
    }

    /// Reads a manifest.
    ///
    /// - Throws: The first rule that it breaks.
    package init(parsing octets: [UInt8], limits: PackageLimits = PackageLimits()) throws(PackageError) {
        do throws(StrictJSON.Fault) {
            try StrictJSON.check(octets)
        } catch {
            throw .invalid("the manifest \(PackageManifest.fileName) cannot be read: \(error.description)")
        }
        let document: Document
        do {
            let decoder = JSONDecoder()
            if let unknown = try decoder.decode(Members.self, from: Data(octets)).unknown {
                throw PackageError.invalid(
                    "the manifest has a member '\(unknown)' that this version does not know; remove it, or update crumb"
                )
            }
            document = try decoder.decode(Document.self, from: Data(octets))
        } catch let error as PackageError {
            throw error
        } catch {
            throw .invalid(
                "the manifest \(PackageManifest.fileName) lacks a member, or one has the wrong type: see docs/packages.md"
            )
        }
        guard document.format == PackageManifest.format else {
            throw .invalid("the manifest has format \(document.format), and this version reads 1; update crumb")
        }
        guard let version = PackageVersion(document.version) else {
            throw .invalid("the manifest's version is not a semantic one: write MAJOR.MINOR.PATCH such as 1.4.0")
        }
        guard document.resources.count <= limits.resources else {
            throw .invalid("the manifest names more than \(limits.resources) resources; make several packages")
        }
        var base: RequestURL?
        if let text = document.base {
            guard text.utf8.count <= PackageManifest.urlLimit, let url = try? RequestURL(text) else {
                throw .invalid(
                    "the manifest's base is not an http or https URL of at most \(PackageManifest.urlLimit) octets; correct it"
                )
            }
            base = url
        }
        var key: Octets?
        if let text = document.key {
            guard let octets = Base64.decode(text.utf8) else {
                throw .invalid("the manifest's key is not an Ed25519 key: write its 32 octets in Base64")
            }
            key = Octets(octets)
        }
        var resources: [Resource] = []
        // Each relative URL is a copy of the base, so a small manifest can name large URLs.
        var urlLength: Int64 = 0
        for resource in document.resources {
            let resource = try PackageManifest.resource(resource, base: base)
            guard resource.length <= limits.resourceLength else {
                throw .invalid("\(resource.url): it has more than \(limits.resourceLength) octets; leave it out")
            }
            urlLength += Int64(resource.url.description.utf8.count)
            guard urlLength <= limits.manifestLength else {
                throw .invalid(
                    "the manifest's URLs have more than \(limits.manifestLength) octets; make several packages")
            }
            resources.append(resource)
        }
        try self.init(name: document.name, version: version, key: key, resources: resources)
    }

    private static func resource(_ resource: Document.Resource, base: RequestURL?) throws(PackageError) -> Resource {
        guard resource.url.utf8.count <= urlLimit else {
            throw .invalid("the manifest has a URL with more than \(urlLimit) octets: shorten it")
        }
        let reference = Octets(resource.url)
        let url = base.map { try? $0.resolving(reference) } ?? (try? RequestURL(resource.url))
        guard let url else {
            throw .invalid(
                "the manifest names '\(resource.url.prefix(100))', which is not an http or https URL"
                    + (base == nil ? "; write it in full, or add a base" : "; correct it"))
        }
        let fields = (resource.fields ?? [:]).map { Field($0.key, $0.value) }.sorted { $0.name < $1.name }
        return Resource(
            url: url, file: resource.file, status: resource.status ?? 200, fields: fields, digest: resource.sha256,
            length: resource.length)
    }

    /// The JSON of the manifest, with absolute URLs.
    package func octets() throws -> [UInt8] {
        let document = Document(
            format: PackageManifest.format, name: name, version: version.description, base: nil,
            key: key.map { Base64.text($0) },
            resources: resources.map { resource in
                Document.Resource(
                    url: resource.url.description, file: resource.file, status: resource.status,
                    fields: Dictionary(resource.fields.map { ($0.name, $0.value) }) { first, _ in first },
                    sha256: resource.digest, length: resource.length)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(document)) + [ASCII.lineFeed]
    }
}
