import FuzzSupport

@testable import OfflinePackages
@testable import WebPrimitives

/// Any bytes as a manifest, and as versions of packages.
enum ManifestTarget {
    static func check(_ input: [UInt8]) {
        VersionCheck.check(String(decoding: input, as: UTF8.self))
        var limits = PackageLimits()
        // Small ones, so that short inputs reach them.
        if input.count & 1 == 0 { (limits.resources, limits.manifestLength, limits.resourceLength) = (2, 200, 1000) }
        let manifest: PackageManifest
        do throws(PackageError) {
            manifest = try PackageManifest(parsing: input, limits: limits)
        } catch {
            Invariant.holds(error.code == .invalid, "a manifest is refused, and nothing else")
            return Invariant.holds(error.description.count > 20 && error.description.count < 10_000, "with a sentence")
        }
        check(manifest, limits)
        for resource in manifest.resources { check(resource) }
        checkWritten(manifest)
    }

    private static func check(_ manifest: PackageManifest, _ limits: PackageLimits) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
        let name = Array(manifest.name.utf8)
        Invariant.holds((1...64).contains(name.count) && name.allSatisfy(letters.contains), "a name has few letters")
        Invariant.holds(!Array("._-".utf8).contains(name[0]), "and begins with one or a digit")
        Invariant.holds((manifest.key?.count ?? 32) == 32, "a key has 32 octets")
        let (resources, urls) = (manifest.resources, manifest.resources.map(\.url.description))
        Invariant.holds((1...limits.resources).contains(resources.count), "the number of resources is bounded")
        Invariant.holds(Set(urls).count == urls.count, "no URL is there twice")
        let length = urls.reduce(0) { $0 + $1.utf8.count }
        Invariant.holds(length <= limits.manifestLength, "the length of all URLs is bounded")
        Invariant.holds(manifest.length <= limits.resourceLength * Int64(resources.count), "and that of the bodies")
        Invariant.holds(
            manifest.origins.allSatisfy { origin in urls.contains { $0.hasPrefix("\(origin)/") } }
                && urls.allSatisfy { url in manifest.origins.contains { url.hasPrefix("\($0)/") } },
            "origins are those of the URLs")
        let named = Set(manifest.origins)
        Invariant.holds((try? manifest.check(within: named)) != nil, "it may answer for what it names")
        Invariant.holds(
            (try? manifest.check(within: named.subtracting([manifest.origins[0]]))) == nil, "and not for more")
    }

    private static func check(_ resource: PackageManifest.Resource) {
        let url = resource.url.description
        Invariant.holds(url.hasPrefix("http://") || url.hasPrefix("https://"), "a URL is one of http or https")
        Invariant.holds(!url.contains("#") && url.utf8.count <= 8192, "has no fragment and a bounded length")
        Invariant.holds((try? RequestURL(url)) == resource.url, "and is the same when it is read again")
        Invariant.holds([200, 301, 302, 307, 308, 404, 410].contains(resource.status), "a status is one of few")
        Invariant.holds(resource.length >= 0, "a length is not negative")
        Invariant.holds(
            resource.digest.utf8.count == 64
                && resource.digest.utf8.allSatisfy(Array("0123456789abcdef".utf8).contains),
            "a digest has 64 digits")
        let names = resource.fields.map { String(decoding: $0.name.utf8.map(\.lowercased), as: UTF8.self) }
        Invariant.holds(Set(names).count == names.count, "no field is there twice")
        Invariant.holds(
            !names.contains { ["set-cookie", "content-encoding", "content-length", "age", "connection"].contains($0) },
            "a field is one about the content")
        Invariant.holds(!resource.fields.contains { $0.value.utf8.contains(where: \.isControl) }, "without controls")
        Invariant.holds(names.contains("location") == (resource.status / 100 == 3), "a redirect leads somewhere")
    }

    /// The manifest as it is stored.
    private static func checkWritten(_ manifest: PackageManifest) {
        let written = try? manifest.octets()
        guard let written, let again = try? PackageManifest(parsing: written) else {
            return Invariant.holds(false, "what is written is read")
        }
        Invariant.holds(again == manifest && (try? again.octets()) == written, "as the same manifest")
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ManifestTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
