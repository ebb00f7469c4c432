/// A set of scope tokens in the order they were given (RFC 6749, section 3.3).
///
/// Scopes are case-sensitive and their order says nothing, so equality disregards it. Whatever is not a scope-token
/// (`%x21 / %x23-5B / %x5D-7E`) is left out, and a repeated one is kept once.
public struct Scopes: Sendable {
    /// The scope tokens, each once, in the order they were given.
    public let values: [String]

    /// The valid scope tokens among `values`.
    public init(_ values: some Sequence<String>) {
        var seen: Set<String> = []
        self.values = values.filter { Scopes.isScopeToken($0) && seen.insert($0).inserted }
    }

    /// The scope tokens of a `scope` parameter.
    ///
    /// They are separated by spaces, or by commas if there is no space, because some servers respond so.
    public init(parsing text: String) {
        let bySpace = text.split { $0 == " " || $0 == "\t" || $0.isNewline }
        if bySpace.count == 1 {
            self.init(bySpace[0].split(separator: ",").map(String.init))
        } else {
            self.init(bySpace.map(String.init))
        }
    }

    /// Whether there is no scope.
    package var isEmpty: Bool { values.isEmpty }

    /// Whether `scope` is one of them.
    public func contains(_ scope: String) -> Bool {
        values.contains(scope)
    }

    private static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x21, 0x23...0x5B, 0x5D...0x7E: true
                default: false
                }
            }
    }
}

extension Scopes: Hashable {
    /// Whether both hold the same scopes, in any order.
    public static func == (left: Scopes, right: Scopes) -> Bool {
        Set(left.values) == Set(right.values)
    }

    /// Feeds the scopes as a set to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Set(values))
    }
}

extension Scopes: CustomStringConvertible, ExpressibleByArrayLiteral {
    /// The scopes as the `scope` parameter writes them: with a space between them.
    public var description: String { values.joined(separator: " ") }

    /// The valid scope tokens of a literal.
    public init(arrayLiteral values: String...) {
        self.init(values)
    }
}
