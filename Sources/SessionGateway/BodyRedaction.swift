import HTTPMessages
import WebPrimitives

/// The kinds of bodies that give their values names, by which secrets are found.
enum NamedBody: Equatable {
    /// `application/x-www-form-urlencoded`.
    case form
    /// `multipart/form-data`, whose parts the boundary separates (RFC 7578).
    case multipart(boundary: [UInt8])
    /// `application/json`, or a type that ends with `+json` (RFC 6839, section 3.1).
    case json

    /// The kind of the body that follows a head; `nil` for another one.
    init?(_ head: MessageHead) {
        guard let value = head.values("content-type").first else { return nil }
        let parts = String(decoding: value, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false)
        let type = parts[0].trimmingBlanks.lowercased()
        switch type {
        case "application/x-www-form-urlencoded": self = .form
        case "multipart/form-data":
            let boundary = parts.dropFirst().compactMap { NamedBody.value(of: "boundary", in: $0) }.first
            guard let boundary, !boundary.isEmpty else { return nil }
            self = .multipart(boundary: Array(boundary.utf8))
        case "application/json", "text/json": self = .json
        case _ where type.hasSuffix("+json"): self = .json
        default: return nil
        }
    }

    /// The value of a parameter of a field, without its quotes; `nil` if the parameter has another name.
    fileprivate static func value(of name: String, in parameter: Substring) -> String? {
        let pair = parameter.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
        guard pair.count == 2, pair[0].lowercased() == name else { return nil }
        guard pair[1].count > 1, pair[1].hasPrefix("\""), pair[1].hasSuffix("\"") else { return String(pair[1]) }
        return String(pair[1].dropFirst().dropLast())
    }
}

extension SecretRedaction {
    /// A body without the values of some names.
    ///
    /// - Returns: `nil` if the body is damaged, so that not all of them can be found.
    static func body(_ body: [UInt8], _ kind: NamedBody, _ names: SecretNames = .secrets) -> [UInt8]? {
        switch kind {
        case .form: form(body, names)
        case .multipart(let boundary): multipart(body, boundary, names)
        case .json: json(body, names)
        }
    }

    /// The parts of a form. A part begins behind a line with the boundary, and has fields and an empty line in front of
    /// its value.
    private static func multipart(_ body: [UInt8], _ boundary: [UInt8], _ names: SecretNames) -> [UInt8]? {
        let delimiter = [ASCII.carriageReturn, ASCII.lineFeed, ASCII.hyphen, ASCII.hyphen] + boundary
        // The first boundary has no line in front of it.
        guard body.starts(with: delimiter.dropFirst(2)) else { return nil }
        var redacted: [UInt8] = []
        var position = delimiter.count - 2
        while !body[position...].starts(with: [ASCII.hyphen, ASCII.hyphen]) {
            guard let start = body.end(of: Array("\r\n\r\n".utf8), from: position),
                let end = body.end(of: delimiter, from: start - 2)
            else { return nil }
            let value = min(start, end - delimiter.count)..<(end - delimiter.count)
            if !value.isEmpty, let name = partName(body[position..<start]), names.contains(name.utf8) {
                redacted += body[(position - delimiter.count + 2)..<start] + Array(mark.utf8)
            } else {
                redacted += body[(position - delimiter.count + 2)..<value.upperBound]
            }
            redacted += [ASCII.carriageReturn, ASCII.lineFeed]
            position = end
        }
        return redacted + body[(position - delimiter.count + 2)...]
    }

    /// The name that the fields of a part give it.
    private static func partName(_ fields: ArraySlice<UInt8>) -> String? {
        for line in String(decoding: fields, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parameters = line.split(separator: ";")
            guard parameters.first?.lowercased().hasPrefix("content-disposition:") ?? false else { continue }
            return parameters.dropFirst().compactMap { NamedBody.value(of: "name", in: $0) }.first
        }
        return nil
    }

    /// The members of a JSON text, at any depth. Everything but the values stays as it is, to the octet.
    private static func json(_ text: [UInt8], _ names: SecretNames) -> [UInt8]? {
        var stream = JSONStream(handler: SecretMembers(names: names), dialect: .standard)
        let octets = text.span
        for position in text.indices {
            stream.handler.position = position
            stream.read(octets.extracting(position..<(position + 1)))
        }
        // A number ends where another octet follows.
        stream.read([ASCII.space].span)
        guard stream.isComplete else { return nil }
        var redacted: [UInt8] = []
        var position = 0
        for value in stream.handler.values {
            let isString = text[value.upperBound - 1] == ASCII.quote
            let start = isString ? value.lowerBound : text[..<value.upperBound].startOfNumber
            redacted += text[position..<start] + [ASCII.quote] + Array(mark.utf8) + [ASCII.quote]
            position = value.upperBound
        }
        return redacted + text[position...]
    }
}

/// Finds the strings and numbers of members with some names.
private struct SecretMembers: JSONHandler, Sendable {
    let names: SecretNames
    /// Where the octet is that is read.
    var position = 0
    /// Where secret values are. Only the end of a number's range is known.
    private(set) var values: [Range<Int>] = []
    /// Whether the value that comes next is a secret member's.
    private var isNextSecret = false
    /// How many containers are open from a secret member on.
    private var secretDepth = 0
    private var start = 0

    init(names: SecretNames) {
        self.names = names
    }

    private var isSecret: Bool { isNextSecret || secretDepth > 0 }

    mutating func key(_ name: Span<UInt8>) {
        isNextSecret = name.withUnsafeBufferPointer { names.contains($0) }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        if isSecret { secretDepth += 1 }
        isNextSecret = false
        return true
    }

    mutating func end() {
        secretDepth = max(0, secretDepth - 1)
        isNextSecret = false
    }

    mutating func beginString() -> Bool {
        start = position
        defer { isNextSecret = false }
        return isSecret
    }

    mutating func string(_ text: Span<UInt8>) {
        values.append(start..<(position + 1))
    }

    mutating func stringTooLong() {
        values.append(start..<(position + 1))
    }

    /// A number is complete when the octet behind it is read.
    mutating func scalar(_ scalar: JSONScalar) {
        if case .number = scalar, isSecret { values.append(position..<position) }
        isNextSecret = false
    }
}

extension ArraySlice<UInt8> {
    /// Where the number begins that the octets end with.
    fileprivate var startOfNumber: Int {
        let other = lastIndex { !ASCII.isDigit($0) && !"+-.eE".utf8.contains($0) }
        return other.map { $0 + 1 } ?? startIndex
    }
}

extension Array<UInt8> {
    /// Where the first occurrence of a pattern ends; `nil` if there is none from `start` on.
    fileprivate func end(of pattern: [UInt8], from start: Int) -> Int? {
        var position = start
        while let first = self[position...].firstIndex(of: pattern[0]) {
            if self[first...].starts(with: pattern) { return first + pattern.count }
            position = first + 1
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
