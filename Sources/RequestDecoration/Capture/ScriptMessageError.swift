/// Why a message is none that a script of this module sends.
///
/// A page can send what it likes: the error says where the message is wrong, and repeats nothing of it.
public struct ScriptMessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable {
        /// The message is larger than any that a script sends.
        case tooLarge = "message-too-large"
        /// The message is not JSON.
        case notJSON = "message-not-json"
        /// The message is JSON, and not what a script sends.
        case malformed = "message-malformed"
    }

    /// What is wrong, as a stable identifier.
    public let code: Code
    /// Where: `changed[3].name`; empty for the message itself.
    public let place: String

    init(_ code: Code, place: String = "") {
        self.code = code
        self.place = place
    }

    /// One sentence for a person.
    public var description: String {
        switch code {
        case .tooLarge: "the script's message is larger than \(ScriptMessage.byteLimit) bytes"
        case .notJSON: "the script's message is not JSON"
        case .malformed: "the script's message is not one of ours: \(place.isEmpty ? "the message" : place) is wrong"
        }
    }
}
