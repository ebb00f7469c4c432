import FuzzSupport

@testable import PublicSuffix

/// What the answers for one host must have to do with each other, whatever the host is.
enum LookupCheck {
    static func answers(of list: PublicSuffixList, for host: [UInt8]) {
        let dot = UInt8(ascii: ".")
        let suffixLength = list.publicSuffixLength(of: host.span)
        let domainLength = list.registrableDomainLength(of: host.span)
        let isSuffix = list.isPublicSuffix(host.span)
        Invariant.holds((0...host.count).contains(suffixLength), "a suffix is no longer than the host")
        Invariant.holds(isSuffix == (suffixLength == host.count), "a host that is a suffix is all of it")
        Invariant.holds(isSuffix == (domainLength == nil), "a suffix has no registrable domain")
        if host.split(separator: dot, omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            Invariant.holds(isSuffix && list.section(of: host.span) == nil, "an empty label is below no rule")
        }
        guard let domainLength else { return }
        Invariant.holds(
            suffixLength > 0 && (suffixLength + 2...host.count).contains(domainLength),
            "a domain is longer than a suffix")
        Invariant.holds(host[host.count - suffixLength - 1] == dot, "a suffix begins at a label")
        Invariant.holds(
            domainLength == host.count || host[host.count - domainLength - 1] == dot, "a domain begins at a label")
        let label = host.suffix(domainLength).dropLast(suffixLength + 1)
        Invariant.holds(!label.isEmpty && !label.contains(dot), "a domain is a suffix and one label more")
    }
}
