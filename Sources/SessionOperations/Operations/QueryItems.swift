package import CookieModel
internal import SessionStore

/// The parameters of a URL's query: those that an operation knows, and no others.
package struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    /// Parameters that are known, decoded.
    package init(_ items: [(name: String, value: String)] = []) {
        self.items = items
    }

    /// All values of a parameter that may be repeated.
    package func all(_ name: String) -> [String] {
        items.filter { $0.name == name }.map(\.value)
    }

    /// The value of a parameter that may be there once: text that every database can store.
    package func one(_ name: String) throws(OperationError) -> String? {
        let value = try only(name)
        guard value?.utf8.contains(0) != true else { throw .parameterInvalid(name, "remove %00") }
        return value
    }

    /// The octets of a parameter that may be there once.
    package func octets(_ name: String) throws(OperationError) -> Octets? {
        try only(name).map { Octets($0) }
    }

    private func only(_ name: String) throws(OperationError) -> String? {
        let values = all(name)
        guard values.count < 2 else { throw .parameterInvalid(name, "this parameter occurs more than once") }
        return values.first
    }

    /// A number within a range.
    package func number(_ name: String, _ range: ClosedRange<Int64>) throws(OperationError) -> Int64? {
        guard let text = try one(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .parameterInvalid(name, "use a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `true` or `false`.
    package func flag(_ name: String) throws(OperationError) -> Bool? {
        switch try one(name) {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .parameterInvalid(name, "use 'true' or 'false'")
        }
    }

    /// Bytes in hexadecimal digits.
    package func hexadecimal(_ name: String, byteCount: Int) throws(OperationError) -> [UInt8]? {
        guard let text = try one(name) else { return nil }
        guard let bytes = Hexadecimal.bytes(text), bytes.count == byteCount else {
            throw .parameterInvalid(name, "use \(2 * byteCount) hexadecimal digits")
        }
        return bytes
    }

    /// One of some names.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(OperationError) -> Choice? {
        guard let text = try one(name) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw .parameterInvalid(name, Choice.hint) }
        return choice
    }

    /// A domain, with or without a dot before it.
    package func host(_ name: String) throws(OperationError) -> WebHost? {
        guard let text = try one(name) else { return nil }
        guard let host = CookieFilter.domain(named: text) else {
            throw .parameterInvalid(name, "this is not a host name")
        }
        return host
    }

    /// A time, or the one that is a duration before now: see ``Timestamp/init(since:now:)``.
    package func time(_ name: String, now: Timestamp) throws(OperationError) -> Timestamp? {
        guard let text = try one(name) else { return nil }
        guard let time = Timestamp(since: text, now: now) else {
            throw .parameterInvalid(name, "use a time such as 2026-11-21T08:00:00Z, or a duration such as 2h")
        }
        return time
    }

    /// A URL.
    package func url(_ name: String) throws(OperationError) -> RequestURL? {
        guard let text = try one(name) else { return nil }
        return try RequestURL(text, member: name)
    }
}

extension Timestamp {
    /// Reads a time (RFC 3339), or a duration before now, such as `2h`; `nil` for any other text.
    package init?(since text: String, now: Timestamp) {
        if let time = Timestamp(rfc3339: text.utf8) {
            self = time
        } else {
            guard let duration = Timestamp.seconds(inDuration: text) else { return nil }
            self = now.advanced(bySeconds: -duration)
        }
    }

    /// The seconds of a duration such as `30d`; `nil` for any other text.
    package static func seconds(inDuration text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000_000).contains(count)
        else { return nil }
        return count * unit
    }
}
