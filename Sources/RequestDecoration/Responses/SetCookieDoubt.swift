/// Something about the Set-Cookie lines of a response that a client has made impossible to tell for certain.
public struct SetCookieDoubt: Sendable, Hashable {
    /// What is in doubt.
    public enum Kind: String, Sendable, CaseIterable {
        /// A comma within a value was taken for the end of a line: what follows it may be part of the value instead.
        case splitWithinValue = "split-within-value"
        /// A comma was taken for part of a line: what follows it may be a line of its own instead.
        case commaKept = "comma-kept"
        /// The client has put other characters in the place of octets; the line is left out.
        case octetsReplaced = "octets-replaced"

        /// One sentence for a person.
        public var explanation: String {
            switch self {
            case .splitWithinValue:
                "the client has joined lines with commas, and this one may be the end of the value before it"
            case .commaKept: "the client joined lines with commas, so this one may contain another"
            case .octetsReplaced: "the client replaced octets that are not UTF-8, so the line was dropped"
            }
        }
    }

    /// What is in doubt.
    public let kind: Kind
    /// Which line it is about, counted from 0: of those that were taken, or where the line was left out, of all.
    public let line: Int

    /// A doubt about a line.
    public init(_ kind: Kind, line: Int) {
        self.kind = kind
        self.line = line
    }
}
