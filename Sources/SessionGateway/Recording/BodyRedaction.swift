import HTTPMessages
import WebPrimitives

/// The kinds of bodies in which secrets are found, most of them by the names of values.
enum NamedBody: Equatable {
    /// `application/x-www-form-urlencoded`.
    case form
    /// `multipart/form-data`, whose parts the boundary separates (RFC 7578); empty if the head names none.
    case multipart(boundary: [UInt8])
    /// `application/json`, or a type that ends with `+json` (RFC 6839, section 3.1).
    case json
    /// JSON in lines, or in events.
    case lines
    /// A token as a whole (RFC 7519).
    case token
    /// Another text. It may be JSON or a form all the same.
    case text

    private static let lineTypes: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
        "application/json-seq", "application/stream+json", "text/event-stream",
    ]
    private static let textWords = ["xml", "json", "javascript", "ecmascript", "html", "graphql", "jsonp"]

    /// The kind of the body that follows a head; `nil` for pictures, sounds and others that have no text.
    init?(_ head: MessageHead) {
        let value = head.values("content-type").first ?? []
        let parts = String(decoding: value, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false)
        let type = (parts.first ?? "").trimmingBlanks.lowercased()
        switch type {
        case "application/x-www-form-urlencoded": self = .form
        case "multipart/form-data":
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

    /// The value of a parameter of a field, without its quotes; `nil` if the parameter has another name.
    fileprivate static func value(of name: String, in parameter: Substring) -> String? {
        let pair = parameter.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
        guard pair.count == 2, pair[0].lowercased() == name else { return nil }
        guard pair[1].count > 1, pair[1].hasPrefix("\""), pair[1].hasSuffix("\"") else { return String(pair[1]) }
        return String(pair[1].dropFirst().dropLast())
    }
}

extension SecretRedaction {
    /// A body without the values of some names; `nil` if it is damaged, so that not all of them can be found.
    static func body(_ body: [UInt8], _ kind: NamedBody, _ names: SecretNames = .secrets) -> [UInt8]? {
        places(in: body, kind, names).map(body.redacted)
    }

    /// Where secrets are in a body.
    ///
    /// - Returns: `nil` if the body is damaged, so that not all of them can be found.
    static func places(in body: [UInt8], _ kind: NamedBody, _ names: SecretNames) -> [SecretPlace]? {
        switch kind {
        case .form: places(inForm: body[...], names).map { SecretPlace(range: $0) }
        case .multipart(let boundary): places(inMultipart: body, boundary, names)
        case .json: places(inJSONBody: body, names)
        case .lines: places(inLines: body, names)
        case .token: names.includesURLs && !body.isEmpty ? [SecretPlace(range: body.indices)] : []
        case .text: places(inText: body, names)
        }
    }

    /// Where secrets are in a text of an unknown kind.
    private static func places(inText body: [UInt8], _ names: SecretNames) -> [SecretPlace] {
        if looksLikeJSON(body), let places = places(inJSONBody: body, names) { return places }
        return looksLikeForm(body) ? places(inForm: body[...], names).map { SecretPlace(range: $0) } : []
    }

    /// Whether a text may be a form: a line without blanks and quotes.
    static func looksLikeForm(_ body: [UInt8]) -> Bool {
        var end = body.endIndex
        while end > 0, ASCII.isWhiteSpace(body[end - 1]) { end -= 1 }
        return body[..<end].allSatisfy { $0 > ASCII.space && $0 != ASCII.quote && !"<>{}".utf8.contains($0) }
    }

    /// Where secrets are in the parts of a form. A part begins behind a line with the boundary, and has fields and an empty
    /// line in front of its value.
    private static func places(
        inMultipart body: [UInt8], _ boundary: [UInt8], _ names: SecretNames
    ) -> [SecretPlace]? {
        let delimiter = [ASCII.carriageReturn, ASCII.lineFeed, ASCII.hyphen, ASCII.hyphen] + boundary
        // The first boundary has no line in front of it.
        guard !boundary.isEmpty, body.starts(with: delimiter.dropFirst(2)) else { return nil }
        var places: [SecretPlace] = []
        var position = delimiter.count - 2
        while !body[position...].starts(with: [ASCII.hyphen, ASCII.hyphen]) {
            guard let start = body.end(of: Array("\r\n\r\n".utf8), from: position),
                let end = body.end(of: delimiter, from: start - 2)
            else { return nil }
            let value = min(start, end - delimiter.count)..<(end - delimiter.count)
            if !value.isEmpty, let name = partName(body[position..<start]), names.contains(name.utf8) {
                places.append(SecretPlace(range: value))
            } else if names.includesURLs {
                places += self.places(inText: body[value]).map { SecretPlace(range: $0) }
            }
            position = end
        }
        return places
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
