import WebPrimitives

/// The kinds of bodies in which secrets are found, mostly by the names of values.
package enum NamedBody: Equatable {
    /// `application/x-www-form-urlencoded`.
    case form
    /// `multipart/form-data` (RFC 7578), or related parts, which the boundary separates; empty if the head names none.
    case multipart(boundary: [UInt8])
    /// `application/json`, or a type that ends with `+json` (RFC 6839, section 3.1).
    case json
    /// JSON in lines, or in events.
    case lines
    /// A token as a whole (RFC 7519).
    case token
    /// Another text, which may still be JSON or a form.
    case text

    private static let lineTypes: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
        "application/json-seq", "application/stream+json", "text/event-stream",
    ]
    private static let textWords = ["xml", "json", "javascript", "ecmascript", "html", "graphql", "jsonp"]

    /// The kind of the body that follows a head; `nil` for images, sounds and other types without text.
    package init?(_ head: MessageHead) {
        self.init(contentType: String(decoding: head.values("content-type").first ?? [], as: UTF8.self))
    }

    /// The kind that a Content-Type field names; `nil` for images, sounds and other types without text.
    fileprivate init?(contentType: String) {
        let parts = contentType.split(separator: ";", omittingEmptySubsequences: false)
        // In a list, which is an error, the first member counts.
        let type = (parts.first ?? "").prefix { $0 != "," }.trimmingBlanks.lowercased()
        switch type {
        case "application/x-www-form-urlencoded": self = .form
        case "multipart/form-data", "multipart/mixed", "multipart/related":
            let boundary = parts.dropFirst().compactMap { NamedBody.value(of: "boundary", in: $0) }.first
            self = .multipart(boundary: Array((boundary ?? "").utf8))
        case _ where NamedBody.lineTypes.contains(type): self = .lines
        case "application/json", "text/json": self = .json
        case _ where type.hasSuffix("+json"): self = .json
        case "application/jwt", "application/jose": self = .token
        case _ where type.hasSuffix("+jwt"): self = .token
        case "text/css": return nil
        case "": self = .text
        case _ where type.hasPrefix("text/"): self = .text
        case _ where type.hasPrefix("application/") && NamedBody.textWords.contains(where: type.contains): self = .text
        default: return nil
        }
    }

    /// The value of a parameter of a field, without its quotes; `nil` if it has another name.
    fileprivate static func value(of name: String, in parameter: Substring) -> String? {
        let pair = parameter.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
        guard pair.count == 2, pair[0].lowercased() == name else { return nil }
        guard pair[1].count > 1, pair[1].hasPrefix("\""), pair[1].hasSuffix("\"") else { return String(pair[1]) }
        return String(pair[1].dropFirst().dropLast())
    }
}

extension SecretRedaction {
    /// A body without the values of some names; `nil` if it is damaged, so that not all secrets can be found.
    package static func body(_ body: [UInt8], _ kind: NamedBody, _ names: SecretNames = .secrets) -> [UInt8]? {
        places(in: body, kind, names).map(body.redacted)
    }

    /// The places of secrets in a body.
    ///
    /// - Returns: `nil` if the body is damaged, so that not all secrets can be found.
    package static func places(in body: [UInt8], _ kind: NamedBody, _ names: SecretNames) -> [SecretPlace]? {
        switch kind {
        case .form: places(inForm: body[...], names).map { SecretPlace(range: $0) }
        case .multipart(let boundary): places(inMultipart: body, boundary, names)
        case .json: places(inJSONBody: body, names)
        case .lines: places(inLines: body, names)
        case .token: names.includesURLs && !body.isEmpty ? [SecretPlace(range: body.indices)] : []
        case .text: places(inText: body, names)
        }
    }

    /// The places of secrets in a text of an unknown kind.
    private static func places(inText body: [UInt8], _ names: SecretNames) -> [SecretPlace] {
        if looksLikeJSON(body), let places = places(inJSONBody: body, names) { return places }
        if looksLikeForm(body[...]) { return places(inForm: body[...], names).map { SecretPlace(range: $0) } }
        // Only a request has a form as `text/plain`, with a line for each value.
        guard names != .tokens else { return [] }
        return body.split { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }.flatMap { line in
            if looksLikeForm(line) { return places(inForm: line, names).map { SecretPlace(range: $0) } }
            guard let equals = line.firstIndex(of: ASCII.equals), equals + 1 < line.endIndex,
                looksLikeForm(line[..<equals]), names.contains(line[..<equals])
            else { return [] }
            return [SecretPlace(range: (equals + 1)..<line.endIndex)]
        }
    }

    /// Whether a text may be a form: a line without blanks and quotes.
    package static func looksLikeForm(_ body: ArraySlice<UInt8>) -> Bool {
        var end = body.endIndex
        while end > body.startIndex, ASCII.isWhiteSpace(body[end - 1]) { end -= 1 }
        return body[..<end].allSatisfy { $0 > ASCII.space && $0 != ASCII.quote && !"<>{}".utf8.contains($0) }
    }

    /// The places of secrets in the parts of a form. A part begins after a line with the boundary, and has fields and
    /// an empty line before its value.
    private static func places(
        inMultipart body: [UInt8], _ boundary: [UInt8], _ names: SecretNames
    ) -> [SecretPlace]? {
        let delimiter = [ASCII.carriageReturn, ASCII.lineFeed, ASCII.hyphen, ASCII.hyphen] + boundary
        // No line precedes the first boundary.
        guard !boundary.isEmpty, body.starts(with: delimiter.dropFirst(2)) else { return nil }
        var places: [SecretPlace] = []
        var position = delimiter.count - 2
        while !body[position...].starts(with: [ASCII.hyphen, ASCII.hyphen]) {
            guard let start = body.end(of: Array("\r\n\r\n".utf8), from: position),
                let end = body.end(of: delimiter, from: start - 2)
            else { return nil }
            let value = min(start, end - delimiter.count)..<(end - delimiter.count)
            let part = PartFields(body[position..<start])
            if !value.isEmpty, part.names.contains(where: { names.contains($0.utf8) }) {
                places.append(SecretPlace(range: value))
            } else if !value.isEmpty, let kind = part.kind {
                guard let found = self.places(in: Array(body[value]), kind, names) else { return nil }
                places += found.map { $0.advanced(by: value.lowerBound) }
                if found.isEmpty, names.includesURLs {
                    places += self.places(inText: body[value]).map { SecretPlace(range: $0) }
                }
            }
            position = end
        }
        return places
    }
}

/// The fields of a part of a body.
private struct PartFields {
    /// The names of the part: one, unless a reader could use another parameter as the name.
    private(set) var names: [String] = []
    /// The kind of its value; `nil` for images and other types without text. Parts in parts are texts.
    private(set) var kind: NamedBody? = .text

    init(_ fields: ArraySlice<UInt8>) {
        // A line that begins with a blank continues the previous one.
        let text = String(decoding: fields, as: UTF8.self)
            .replacing("\r\n ", with: " ").replacing("\r\n\t", with: " ")
        for line in text.split(whereSeparator: \.isNewline) {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { continue }
            switch pair[0].trimmingBlanks.lowercased() {
            case "content-disposition":
                for parameter in PartFields.parameters(pair[1]) {
                    if let name = NamedBody.value(of: "name", in: parameter) { names.append(name) }
                    // The charset and the language precede it (RFC 8187).
                    if let name = NamedBody.value(of: "name*", in: parameter) {
                        names.append(String(name.split(separator: "'").last ?? ""))
                    }
                }
            case "content-type":
                kind = NamedBody(contentType: String(pair[1]))
                if case .multipart? = kind { kind = .text }
            default: break
            }
        }
    }

    /// The parameters of a field. A semicolon in quotes is not a separator.
    private static func parameters(_ value: Substring) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return value.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }
}

extension Array<UInt8> {
    /// The end of the first occurrence of a pattern from `start` on; `nil` if it does not occur.
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
