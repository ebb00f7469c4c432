import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

/// The parameters of a URL's query: those that a route knows, and no others.
struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    /// No parameters.
    init() {
        items = []
    }

    /// The parameters of a request.
    ///
    /// - Parameter known: the parameters that count. Another one is refused: a condition that is misspelt would be none.
    init(_ request: Request, known: Set<String>) throws(ServiceProblem) {
        var items: [(name: String, value: String)] = []
        for pair in (request.uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try QueryItems.decoded(parts[0])
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                throw .parameterInvalid(
                    String(name.prefix(100)), known.isEmpty ? "this route has no parameters" : "use one of \(names)")
            }
            items.append((name, try QueryItems.decoded(parts.count > 1 ? parts[1] : "")))
        }
        self.items = items
    }

    private static func decoded(_ text: Substring) throws(ServiceProblem) -> String {
        guard let decoded = text.replacing("+", with: " ").removingPercentEncoding else {
            throw ServiceProblem(.parameterInvalid, "the query is not percent-encoded UTF-8")
        }
        return decoded
    }

    /// All values of a parameter that may be repeated.
    func all(_ name: String) -> [String] {
        items.filter { $0.name == name }.map(\.value)
    }

    /// The value of a parameter that may be there once: text that every database can store.
    func one(_ name: String) throws(ServiceProblem) -> String? {
        let value = try only(name)
        guard value?.utf8.contains(0) != true else { throw .parameterInvalid(name, "remove %00") }
        return value
    }

    /// The octets of a parameter that may be there once.
    func octets(_ name: String) throws(ServiceProblem) -> Octets? {
        try only(name).map { Octets($0) }
    }

    private func only(_ name: String) throws(ServiceProblem) -> String? {
        let values = all(name)
        guard values.count < 2 else { throw .parameterInvalid(name, "this parameter occurs more than once") }
        return values.first
    }

    /// A number within a range.
    func number(_ name: String, _ range: ClosedRange<Int64>) throws(ServiceProblem) -> Int64? {
        guard let text = try one(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .parameterInvalid(name, "use a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `true` or `false`.
    func flag(_ name: String) throws(ServiceProblem) -> Bool? {
        switch try one(name) {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .parameterInvalid(name, "use 'true' or 'false'")
        }
    }

    /// Bytes in hexadecimal digits.
    func hexadecimal(_ name: String, byteCount: Int) throws(ServiceProblem) -> [UInt8]? {
        guard let text = try one(name) else { return nil }
        guard let bytes = Hexadecimal.bytes(text), bytes.count == byteCount else {
            throw .parameterInvalid(name, "use \(2 * byteCount) hexadecimal digits")
        }
        return bytes
    }

    /// One of some names.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(ServiceProblem) -> Choice? {
        guard let text = try one(name) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw .parameterInvalid(name, Choice.hint) }
        return choice
    }

    /// A domain, with or without a dot before it.
    func host(_ name: String) throws(ServiceProblem) -> WebHost? {
        guard let text = try one(name) else { return nil }
        guard let host = CookieFilter.domain(named: text) else {
            throw .parameterInvalid(name, "this is not a host name")
        }
        return host
    }

    /// A URL.
    func url(_ name: String) throws(ServiceProblem) -> RequestURL? {
        guard let text = try one(name) else { return nil }
        return try RequestURL(text, member: name)
    }
}

extension RequestURL {
    /// Parses a URL from a request.
    ///
    /// - Parameter member: the member that contains it.
    init(_ text: String, member: String) throws(ServiceProblem) {
        do {
            self = try RequestURL(text)
        } catch {
            throw ServiceProblem(.urlInvalid, "\(member): \(error.description)")
        }
    }
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// A hint that lists the accepted values.
    static var hint: String {
        "use one of \(allCases.map(\.rawValue).joined(separator: ", "))"
    }
}
