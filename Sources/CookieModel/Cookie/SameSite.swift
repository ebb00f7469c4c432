/// The same-site-flag of a cookie: when cross-site requests may carry it (section 5.7, step 17).
public enum SameSite: UInt8, Sendable, CaseIterable {
    /// No `SameSite` attribute, or one with an unknown value: enforced as `lax`.
    case `default` = 0
    /// `SameSite=None`: sent everywhere, and needs `Secure`.
    case none = 1
    /// `SameSite=Lax`: sent same-site, and cross-site with top-level navigations by safe methods.
    case lax = 2
    /// `SameSite=Strict`: sent same-site only.
    case strict = 3

    /// The attribute's value as servers write it, `nil` for `default`, which has none.
    public var attributeValue: String? {
        switch self {
        case .default: nil
        case .none: "None"
        case .lax: "Lax"
        case .strict: "Strict"
        }
    }
}
