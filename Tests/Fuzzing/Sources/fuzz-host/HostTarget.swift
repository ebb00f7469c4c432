import FuzzSupport
import PublicSuffix

@testable import CookieModel
@testable import WebPrimitives

/// Any bytes as a host.
enum HostTarget {
    static func check(_ input: [UInt8]) {
        let host = WebHost(Octets(input))
        Invariant.holds(WebHost(Octets(input.map(\.uppercased))) == host, "letters have no case")
        if let host { check(host) }
        if let text = String(validating: input, as: UTF8.self) {
            Invariant.holds(WebHost(text) == host, "a text is its octets")
        }
        // What no other part of a URL could claim is the same host within one.
        guard !input.contains(where: { $0 <= 0x20 || "/\\?#@:[]".utf8.contains($0) }) else { return }
        let url = try? RequestURL(Octets(Array("https://".utf8) + input))
        Invariant.holds(url?.host == host, "a host is the same one in a URL")
    }

    /// What holds of every host that there is.
    static func check(_ host: WebHost) {
        Invariant.holds(WebHost(host.octets) == host, "a canonical host stays as it is")
        Invariant.holds(WebHost(stored: host.octets) == host, "a stored host is the one it was")
        Invariant.holds(
            !host.octets.isEmpty && host.octets.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 == $0.lowercased },
            "a host is printable ASCII in lower case")
        checkSite(of: host)
    }

    private static func checkSite(of host: WebHost) {
        let list = PublicSuffixList.bundled
        let domain = host.registrableDomain(list)
        let front = host.octets.count - domain.count
        Invariant.holds(
            front >= 0 && host.octets[front..<host.octets.count] == domain, "the registrable domain ends the host")
        Invariant.holds(
            front == 0 || host.octets[front - 1] == UInt8(ascii: "."), "the registrable domain begins at a label")
        Invariant.holds(CookiePolicy.domainMatches(host, domain), "a host matches its registrable domain")
        if host.isIPAddress || host.isPublicSuffix(list) {
            Invariant.holds(front == 0, "an address and a public suffix are sites of their own")
        } else {
            let site = WebHost(stored: domain)
            Invariant.holds(
                site.kind == .domain && site.registrableDomain(list) == domain && !site.isPublicSuffix(list),
                "a registrable domain is one of its own")
        }
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    HostTarget.check(input)
    URLTarget.check(input)
    return 0
}
