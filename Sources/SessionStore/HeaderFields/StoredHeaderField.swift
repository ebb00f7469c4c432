public import OAuth2

/// A header field that is kept with a jar, for the jar's requests.
public struct StoredHeaderField: Sendable, Equatable {
    /// The field's name as it was written; case does not tell names apart.
    public let name: String
    /// What the URLs begin with that the field is for; `nil` for all URLs.
    public let scope: String?
    /// The field's value; `nil` where the stored one was changed, moved or cut off.
    public let value: Secret?

    package init(name: String, scope: String?, value: Secret?) {
        self.name = name
        self.scope = scope
        self.value = value
    }
}

extension SessionStoreError {
    /// A stored header field cannot be read back.
    package init(damagedFieldNamed name: String) {
        self.init(.valueDamaged, name, "the stored header field was changed or damaged; set it again")
    }
}
