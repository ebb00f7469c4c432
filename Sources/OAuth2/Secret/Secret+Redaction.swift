extension Secret: CustomStringConvertible, CustomDebugStringConvertible {
    /// What stands in a secret's place wherever it is shown.
    static let redacted = "<redacted>"

    /// `<redacted>`, whatever the bytes are.
    public var description: String { Secret.redacted }

    /// `<redacted>`, whatever the bytes are.
    public var debugDescription: String { Secret.redacted }
}

extension Secret: CustomReflectable, CustomPlaygroundDisplayConvertible {
    /// A mirror without children, so that `dump` and other walks through a value's fields end here.
    public var customMirror: Mirror {
        Mirror(self, children: [], displayStyle: .struct, ancestorRepresentation: .suppressed)
    }

    /// `<redacted>`, whatever the bytes are.
    public var playgroundDescription: Any { Secret.redacted }
}
