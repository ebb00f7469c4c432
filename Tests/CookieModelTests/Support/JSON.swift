import CookieScenarios
import Foundation
import Testing

/// A JSON value that compares as JSON: whatever the order of keys.
struct JSON: Equatable, CustomStringConvertible {
    /// The value with its keys sorted.
    let description: String

    init(_ text: some Sequence<UInt8>) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        let data = try JSONSerialization.data(
            withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes])
        description = String(decoding: data, as: UTF8.self)
    }

    init(_ text: String) throws {
        try self.init(text.utf8)
    }
}

/// Runs one line of a scenario file.
func answer(to line: String) throws -> (json: JSON, isScenario: Bool) {
    let (answer, isScenario) = ScenarioLine.run(Array(line.utf8), realTime: Session.start)
    #expect(!answer.contains(0x0A))
    return (try JSON(answer), isScenario)
}
