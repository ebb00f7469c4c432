public import CookieModel

/// One entry of a jar's journal: which cookie changed, when and why. Never its value.
public struct CookieChange: Sendable, Hashable {
    /// Why a cookie changed.
    public enum Cause: Int64, Sendable, CaseIterable {
        /// A new cookie came in.
        case stored = 1
        /// A cookie took the place of one with the same ID.
        case replaced = 2
        /// A response or a script ended its lifetime.
        case deleted = 3
        /// Its lifetime was over.
        case expired = 4
        /// It made room for others.
        case evicted = 5
        /// A user removed it: by name, with the session, with the jar's content.
        case removed = 6

        /// The cause as reports write it.
        public var identifier: String {
            switch self {
            case .stored: "stored"
            case .replaced: "replaced"
            case .deleted: "deleted"
            case .expired: "expired"
            case .evicted: "evicted"
            case .removed: "removed"
            }
        }
    }

    /// Its place in the journal: larger than that of every change before.
    public let position: Int64
    /// Why.
    public let cause: Cause
    /// When.
    public let time: Timestamp
    /// Which cookie.
    public let cookie: Cookie.ID
    /// The capture that the response came out of which deleted or evicted the cookie; `nil` for a live response and for
    /// other causes.
    public let capture: String?
    /// The URL of that response, without its query; `nil` for other causes, and for a change that is older than this
    /// record.
    public let url: String?
}
