import ArgumentParser
import RequestDecoration

/// When a script sets a cookie, as the command line writes it.
enum ScriptWriting: String, ExpressibleByArgument, CaseIterable {
    case once, missing, always

    var writing: InjectionScript.Writing {
        switch self {
        case .once: .once
        case .missing: .missing
        case .always: .always
        }
    }
}

/// Reads a message handler's name that a user typed.
func messageHandlerName(_ text: String) throws -> MessageHandlerName {
    guard let name = MessageHandlerName(text) else {
        throw ValidationError(
            "a handler's name has up to \(MessageHandlerName.limit) letters, digits, _ and $, and no digit in front")
    }
    return name
}
