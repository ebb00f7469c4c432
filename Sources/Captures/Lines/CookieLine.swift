import CookieModel
import WebPrimitives

/// Gathers the members of one line of our own JSON lines.
struct CookieLine: JSONHandler {
    /// The members of a line. Others are ignored, so that later versions can add some.
    private enum Member {
        case version, name, nameBase64, value, valueBase64, domain, hostOnly, path, pathBase64, secure, httpOnly
        case sameSite, expires, created, lastAccess, partitionKey, other
    }

    private var member = Member.other
    /// Whether the object has begun.
    private var isWithin = false
    private var version: Int?
    private var name: Octets?
    private var value: Octets?
    private var path: Octets?
    private var domain: String?
    private var isHostOnly: Bool?
    private var isSecure: Bool?
    private var isHTTPOnly: Bool?
    private var sameSite = SameSite.default
    private var expiry: Timestamp?
    private var creation: Timestamp?
    private var lastAccess: Timestamp?
    private var partitionKey: PartitionKey?
    /// A member whose value is invalid.
    private var invalidMember: StaticString?

    /// The cookie, or the defect of the line.
    enum Result {
        case cookie(CookieRecord)
        case malformed(String)
    }

    /// The cookie of a line that has been read to its end.
    var result: Result {
        guard let version else { return .malformed("The line has no member 'crumb' with the version of its format.") }
        guard version == 1 else {
            return .malformed("The line has version \(version) of its format, which requires a newer crumb.")
        }
        if let invalidMember { return .malformed("The member '\(invalidMember)' is not valid.") }
        guard let name, let value, let domain, let isHostOnly, let path, let isSecure, let isHTTPOnly else {
            return .malformed("The line lacks one of name, value, domain, hostOnly, path, secure and httpOnly.")
        }
        var record = CookieRecord(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, sameSite: sameSite, expiry: expiry, creation: creation)
        record.lastAccess = lastAccess
        record.partitionKey = partitionKey
        return .cookie(record)
    }

    mutating func key(_ name: Span<UInt8>) {
        member = CookieLine.member(name)
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        guard !isWithin else {
            if member != .other { reject() }
            return false
        }
        if container == .object { isWithin = true } else { reject() }
        return isWithin
    }

    func end() {}

    func beginString() -> Bool {
        member != .other
    }

    mutating func string(_ text: Span<UInt8>) {
        switch member {
        case .name: name = CookieLine.octets(text)
        case .value: value = CookieLine.octets(text)
        case .path: path = CookieLine.octets(text)
        case .nameBase64: name = decoded(text)
        case .valueBase64: value = decoded(text)
        case .pathBase64: path = decoded(text)
        case .domain: domain = valid(CookieLine.octets(text).utf8String)
        case .sameSite: sameSite = valid(CookieLine.sameSite(text)) ?? .default
        case .expires: expiry = moment(text)
        case .created: creation = moment(text)
        case .lastAccess: lastAccess = moment(text)
        case .partitionKey:
            partitionKey = valid(CookieLine.octets(text).utf8String.flatMap(PartitionKey.init(serialized:)))
        case .version, .hostOnly, .secure, .httpOnly: reject()
        case .other: break
        }
    }

    mutating func stringTooLong() {
        reject()
    }

    mutating func scalar(_ scalar: JSONScalar) {
        switch (member, scalar) {
        case (.version, .number(let number)): version = valid(number.integer)
        case (.hostOnly, .boolean(let flag)): isHostOnly = flag
        case (.secure, .boolean(let flag)): isSecure = flag
        case (.httpOnly, .boolean(let flag)): isHTTPOnly = flag
        case (.other, _): break
        default: reject()
        }
    }

    private static func member(_ name: Span<UInt8>) -> Member {
        for (text, member) in members where name.equals(text) { return member }
        return .other
    }

    private static let members: [(StaticString, Member)] = [
        ("crumb", .version), ("name", .name), ("nameBase64", .nameBase64), ("value", .value),
        ("valueBase64", .valueBase64), ("domain", .domain), ("hostOnly", .hostOnly), ("path", .path),
        ("pathBase64", .pathBase64), ("secure", .secure), ("httpOnly", .httpOnly), ("sameSite", .sameSite),
        ("expires", .expires), ("created", .created), ("lastAccess", .lastAccess), ("partitionKey", .partitionKey),
    ]

    private static func octets(_ text: Span<UInt8>) -> Octets {
        Octets(text.withUnsafeBufferPointer { Array($0) })
    }

    private static func sameSite(_ text: Span<UInt8>) -> SameSite? {
        SameSite.allCases.first { $0.attributeValue.map { Octets($0) == octets(text) } == true }
    }

    private mutating func decoded(_ text: Span<UInt8>) -> Octets? {
        valid(Base64.decode(CookieLine.octets(text)).map { Octets($0) })
    }

    private mutating func moment(_ text: Span<UInt8>) -> Timestamp? {
        let octets = CookieLine.octets(text)
        return valid(
            Timestamp(rfc3339: octets)
                ?? octets.utf8String.flatMap(Int64.init).map(Timestamp.init(microseconds:)))
    }

    private mutating func valid<Value>(_ value: Value?) -> Value? {
        if value == nil { reject() }
        return value
    }

    private mutating func reject() {
        let name = CookieLine.members.first { $0.1 == member }?.0
        invalidMember = invalidMember ?? name ?? "crumb"
    }
}

/// Reads JSON lines of our own, as ``CookieLineWriter`` writes them: a cookie a line, nothing lost.
///
/// A line that is no cookie is one failure. Empty lines are nothing.
struct CookieLineReader: LineContent {
    func take(_ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        var stream = JSONStream(handler: CookieLine())
        stream.read(line)
        guard stream.isComplete else {
            items.append(.failure(.lineMalformed("The line is not a JSON object."), at: place))
            return
        }
        switch stream.handler.result {
        case .cookie(let record): items.append(.cookie(record, place))
        case .malformed(let finding): items.append(.failure(.lineMalformed(finding), at: place))
        }
    }
}
