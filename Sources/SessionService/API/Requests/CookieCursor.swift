import CookieModel
import PublicSuffix
import SessionOperations

/// A place in the order in which a jar's cookies are listed: by site, and within a site as they were made; opaque to
/// callers.
struct CookieCursor: Comparable, Sendable {
    private let site: Octets
    private let sequence: Int64

    private init(site: Octets, sequence: Int64) {
        self.site = site
        self.sequence = sequence
    }

    /// Where a cookie is.
    ///
    /// - Parameter list: by which its site is known.
    init(at cookie: Cookie, _ list: PublicSuffixList) {
        site = cookie.domain.registrableDomain(list)
        sequence = Int64(cookie.sequence)
    }

    /// Where a query says that the last page ended.
    init(_ query: QueryItems) throws(ServiceProblem) {
        guard let text = try query.one("cursor") else {
            self = CookieCursor(site: [], sequence: .min)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let site = Hexadecimal.bytes(parts[0]), let sequence = Int64(parts[1], radix: 36)
        else { throw .cursorInvalid }
        self = CookieCursor(site: Octets(site), sequence: sequence)
    }

    /// The cursor as callers give it back.
    var text: String {
        "\(Hexadecimal.text(site)).\(String(sequence, radix: 36))"
    }

    /// Whether it is the place before all cookies.
    var isBeginning: Bool { site.isEmpty && sequence == .min }

    static func < (left: CookieCursor, right: CookieCursor) -> Bool {
        left.site == right.site ? left.sequence < right.sequence : left.site < right.site
    }
}
