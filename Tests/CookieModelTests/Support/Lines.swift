import CookieModel

extension SetCookie {
    /// What parsing a line gives; `nil` where the line is ignored.
    static func parsed(_ line: Octets, profile: CookieProfile = .rfc6265bis) -> SetCookie? {
        switch parse(line, profile: profile) {
        case .cookie(let setCookie): setCookie
        case .ignored: nil
        }
    }

    /// Why parsing ignores a line; empty where it does not.
    static func ignored(_ line: Octets) -> [String] {
        switch parse(line) {
        case .cookie: []
        case .ignored(let reasons): reasons.identifiers
        }
    }
}

extension Octets {
    /// `count` times the letter `x`.
    static func filler(_ count: Int) -> Octets {
        Octets(Array(repeating: UInt8(ascii: "x"), count: count))
    }

    /// One after the other.
    static func + (left: Octets, right: Octets) -> Octets {
        Octets(left.bytes + right.bytes)
    }
}
