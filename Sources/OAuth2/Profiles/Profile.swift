/// One OAuth2 authorization, with a name by which people call it.
///
/// Two accounts at one issuer are two profiles. The name is only a handle: renaming a profile does not make it another
/// one.
public struct Profile: Sendable, Hashable, Identifiable {
    /// Issuer, client and account.
    public let id: ProfileID
    /// The name that people give it, such as `work`.
    public var name: String

    /// A profile called `name`.
    public init(id: ProfileID, name: String) {
        self.id = id
        self.name = name
    }
}
