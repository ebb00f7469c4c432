/// What an ``InjectionScript`` says of its cookies and items of `localStorage` after it ran on a page.
///
/// In a world that the script shares with the page, a page can forge it: it tells whether a session got through, and
/// grants nothing.
public struct InjectionReport: Sendable, Hashable {
    /// What became of a cookie or an item.
    public enum State: String, Sendable, CaseIterable {
        /// The script set it, and it reads back.
        case set
        /// It was there already, with that value.
        case present
        /// The page has another value of that name, which was left alone.
        case kept
        /// This tab was given it before; what the page made of it was left alone.
        case given
        /// The script set it, and it does not read back: the browser refused it.
        case refused
        /// Its lifetime is over.
        case expired
        /// The script set it for another path of the host, where scripts of the page cannot see it.
        case unverifiable
        /// It waits for a page of its own path, or for another page in the address bar.
        case elsewhere
        /// The page may not use cookies at all, as in a sandboxed frame.
        case blocked
    }

    /// A cookie of the script, and what became of it.
    public struct Entry: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The domain, with a dot in front where it is not host-only.
        public let domain: String
        /// The path.
        public let path: String
        /// What became of it.
        public let state: State
    }

    /// Scheme and host of the page: `https://www.example.com`.
    public let page: String
    /// The script's cookies for that page, in its order.
    public let cookies: [Entry]

    /// How many of the script's items of `localStorage` for that page came to each state; states without any are left out.
    public let storage: [State: Int]

    /// Whether nothing was refused or blocked, as far as scripts of the page can see: ``State/unverifiable`` cookies count
    /// as set.
    public var isComplete: Bool {
        cookies.allSatisfy { $0.state != .refused && $0.state != .blocked } && storage[.refused] == nil
            && storage[.blocked] == nil
    }
}
