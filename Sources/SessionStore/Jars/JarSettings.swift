public import CookieModel

/// The part of a jar's rules that is kept with it.
public struct JarSettings: Sendable, Hashable {
    /// The divergences from the draft.
    public var profile: CookieProfile
    /// How many cookies the jar keeps, and how many one request carries.
    public var limits: CookieLimits

    /// The settings of a profile, with its limits.
    public init(profile: CookieProfile = .rfc6265bis) {
        self.init(CookiePolicy(profile: profile))
    }

    /// The settings within a policy.
    public init(_ policy: CookiePolicy) {
        profile = policy.profile
        limits = policy.limits
    }

    /// `policy` with these settings.
    package func applied(to policy: CookiePolicy) -> CookiePolicy {
        var policy = policy
        policy.profile = profile
        policy.limits = limits
        return policy
    }

    /// The profile's name, or its flags where it has none.
    var profileText: String { profile.name ?? String(profile.rawValue) }

    /// Takes ``profileText`` back; what a newer version may have written is taken for the draft's rules.
    static func profile(_ text: String) -> CookieProfile {
        CookieProfile(name: text) ?? UInt32(text).map(CookieProfile.init(rawValue:)) ?? .rfc6265bis
    }
}
