/// What a caller of the service may do, and with which jars.
public struct AccessGrant: Sendable, Hashable {
    /// The jars that a grant is for.
    public enum Jars: Sendable, Hashable {
        /// All there are and will be. Only such a grant sees the tokens, makes jars and manages access.
        case all
        /// Those of these names, whether they exist or not.
        case named(Set<String>)
    }

    /// What may be done.
    public var verbs: Set<AccessVerb>
    /// The jars with which it may be done.
    public var jars: Jars

    /// A grant of verbs for jars.
    public init(verbs: Set<AccessVerb>, jars: Jars = .all) {
        self.verbs = verbs
        self.jars = jars
    }

    /// Everything, for the owner.
    public static let everything = AccessGrant(verbs: Set(AccessVerb.allCases))

    /// Whether the jar may be known to be there at all.
    public func covers(jar name: String) -> Bool {
        switch jars {
        case .all: true
        case .named(let names): names.contains(name)
        }
    }

    /// The names of the only jars that the grant is for; `nil` for all jars.
    package var jarNames: Set<String>? {
        switch jars {
        case .all: nil
        case .named(let names): names
        }
    }

    /// Whether the grant is for what belongs to no jar.
    public var coversAll: Bool { jars == .all }
}
