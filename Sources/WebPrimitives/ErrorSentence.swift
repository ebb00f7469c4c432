/// A sentence for two readers: a developer whose app calls a library, and a user of the command `crumb`.
///
/// Both are written in one place. `"log in again\(command: " with 'crumb token login'")"` names the command only for its
/// user.
package struct ErrorSentence: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The sentence for apps. It names no command.
    package private(set) var text: String
    /// The sentence for users of the command.
    package private(set) var commandText: String

    /// A sentence that is the same for both.
    package init(_ text: String) {
        (self.text, commandText) = (text, text)
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }

    package init(stringInterpolation parts: StringInterpolation) {
        self = parts.sentence
    }

    package static func + (left: ErrorSentence, right: ErrorSentence) -> ErrorSentence {
        var sentence = left
        sentence += right
        return sentence
    }

    package static func += (left: inout ErrorSentence, right: ErrorSentence) {
        left.text += right.text
        left.commandText += right.commandText
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sentence = ErrorSentence("")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            append(text, text)
        }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendLiteral(value.description)
        }

        /// Adds a part for users of the command, and another one or none for apps.
        package mutating func appendInterpolation(app: String = "", command: String) {
            append(app, command)
        }

        private mutating func append(_ text: String, _ commandText: String) {
            sentence.text += text
            sentence.commandText += commandText
        }
    }
}

/// An error, or a finding, that has a sentence for users of the command `crumb` besides its description.
package protocol CommandDescribed {
    /// The sentence with the names of commands and options.
    var commandDescription: String { get }
}

extension Error {
    /// The sentence for users of the command `crumb`: that of ``CommandDescribed``, and the description of other errors.
    package var commandDescription: String {
        (self as? any CommandDescribed)?.commandDescription ?? "\(self)"
    }
}
