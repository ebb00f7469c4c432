import FuzzSupport

@testable import WebPrimitives

/// Any bytes as a URL, as what follows a scheme, and as a `Location`.
enum URLTarget {
    private static let base = try? RequestURL("https://example.com:8443/a/b?c")

    static func check(_ input: [UInt8]) {
        let text = Octets(input)
        let url = try? RequestURL(text)
        if let url { check(url) }
        let framed = Octets([0x0A, 0x20] + input + [0x09, 0x00, 0x20])
        Invariant.holds((try? RequestURL(framed)) == url, "white space around a URL says nothing")
        if let behindScheme = try? RequestURL(Octets(Array("ws://".utf8) + input)) { check(behindScheme) }
        guard let base else { return }
        let resolved = try? base.resolving(text)
        if let resolved { check(resolved) }
        if let url, url.scheme != base.scheme {
            Invariant.holds(resolved == url, "an absolute URL is what it resolves to")
        }
    }

    private static func check(_ url: RequestURL) {
        let text = url.description
        Invariant.holds((try? RequestURL(text)) == url, "what is written reads the same")
        Invariant.holds((try? url.resolving(Octets(text))) == url, "a URL resolves to itself")
        Invariant.holds((try? url.resolving([])) == url, "nothing resolves to where one is")
        Invariant.holds(
            (try? url.resolving(url.path + url.query)) == url || url.path.starts(with: [0x2F, 0x2F]),
            "path and query resolve to the URL they are of")
        Invariant.holds(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a URL is printable ASCII")
        Invariant.holds(
            url.path.first == UInt8(ascii: "/") && !url.path.contains { "?#\\".utf8.contains($0) },
            "a path is absolute and ends where the query begins")
        Invariant.holds(
            url.path.split(separator: UInt8(ascii: "/")).allSatisfy { !isDots($0) }, "dot segments are resolved")
        Invariant.holds(
            (url.query.isEmpty || url.query.first == UInt8(ascii: "?")) && !url.query.contains(UInt8(ascii: "#")),
            "a query begins with its mark and ends with the fragment's")
        HostTarget.check(url.host)
    }

    private static func isDots(_ segment: Octets) -> Bool {
        let plain = String(decoding: segment, as: UTF8.self).lowercased()
        return [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(plain)
    }
}

extension Octets {
    fileprivate static func + (left: Octets, right: Octets) -> Octets {
        Octets(left.bytes + right.bytes)
    }
}
