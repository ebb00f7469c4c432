import CookieModel
import WebPrimitives

/// Gathers the members of one line of our own JSON lines.
private struct CookieLine: JSONHandler {
    struct Problem: Error {
        let finding: String
    }

    private enum Member: UInt8 {
        // A line has all of these.
        case version, name, value, domain, hostOnly, path, secure, httpOnly
        case sameSite, expires, created, lastAccess, partitionKey
    }

    private typealias Row = (name: StaticString, member: Member, isBase64: Bool)

    /// The members of a line, two of them under two names. Others are ignored, so that later versions can add some.
    private static let rows: [Row] = [
        ("crumb", .version, false), ("name", .name, false), ("nameBase64", .name, true), ("value", .value, false),
        ("valueBase64", .value, true), ("domain", .domain, false), ("hostOnly", .hostOnly, false),
        ("path", .path, false), ("pathBase64", .path, true), ("secure", .secure, false),
        ("httpOnly", .httpOnly, false), ("sameSite", .sameSite, false), ("expires", .expires, false),
        ("created", .created, false), ("lastAccess", .lastAccess, false), ("partitionKey", .partitionKey, false),
    ]

    /// The current member; `nil` for one that is ignored.
    private var row: Row?
    /// Whether the object has begun.
    private var isWithin = false
    private var version: Int?
    private var record = CookieRecord(name: [], value: [], domain: "", isHostOnly: false)
    /// The members that were there, a bit each.
    private var given: UInt16 = 0
    /// A member whose value is invalid.
    private var invalidMember: StaticString?

    /// The cookie of a line that has been read to its end.
    ///
    /// - Throws: The defect of the line.
    func cookie() throws(Problem) -> CookieRecord {
        guard let version else {
            throw Problem(finding: "The line has no member 'crumb' with the version of its format.")
        }
        guard version == 1 else {
            throw Problem(finding: "The line has version \(version) of its format, which requires a newer crumb.")
        }
        if let invalidMember { throw Problem(finding: "The member '\(invalidMember)' is not valid.") }
        guard given & 0xFF == 0xFF else {
            throw Problem(finding: "The line lacks one of name, value, domain, hostOnly, path, secure and httpOnly.")
        }
        return record
    }

    mutating func key(_ name: Span<UInt8>) {
        row = nil
        for found in CookieLine.rows where name.equals(found.name) {
            row = found
            return
        }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        guard !isWithin else {
            if row != nil { reject() }
            return false
        }
        if container == .object { isWithin = true } else { reject() }
        return isWithin
    }

    func end() {}

    func beginString() -> Bool { row != nil }

    mutating func string(_ text: Span<UInt8>) {
        guard let row else { return }
        var octets = Octets(text.array(0..<text.count))
        if row.isBase64 { octets = valid(Base64.decode(octets).map { Octets($0) }) ?? [] }
        switch row.member {
        case .name: record.name = octets
        case .value: record.value = octets
        case .path: record.path = octets
        case .domain: record.domain = valid(octets.utf8String) ?? ""
        case .sameSite: record.sameSite = valid(CookieLine.sameSite(octets)) ?? .default
        case .expires: record.expiry = valid(Timestamp(serialized: octets))
        case .created: record.creation = valid(Timestamp(serialized: octets))
        case .lastAccess: record.lastAccess = valid(Timestamp(serialized: octets))
        case .partitionKey:
            record.partitionKey = valid(octets.utf8String.flatMap(PartitionKey.init(serialized:)))
        case .version, .hostOnly, .secure, .httpOnly: reject()
        }
        given |= 1 << row.member.rawValue
    }

    mutating func stringTooLong() {
        reject()
    }

    mutating func scalar(_ scalar: JSONScalar) {
        guard let row else { return }
        switch (row.member, scalar) {
        case (.version, .number(let number)): version = valid(number.integer)
        case (.hostOnly, .boolean(let flag)): record.isHostOnly = flag
        case (.secure, .boolean(let flag)): record.isSecure = flag
        case (.httpOnly, .boolean(let flag)): record.isHTTPOnly = flag
        default: reject()
        }
        given |= 1 << row.member.rawValue
    }

    private static func sameSite(_ text: Octets) -> SameSite? {
        SameSite.allCases.first { $0.attributeValue.map { Octets($0) == text } == true }
    }

    private mutating func valid<Value>(_ value: Value?) -> Value? {
        if value == nil { reject() }
        return value
    }

    private mutating func reject() {
        invalidMember = invalidMember ?? row?.name ?? "crumb"
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
        do throws(CookieLine.Problem) {
            guard stream.isComplete else { throw CookieLine.Problem(finding: "The line is not a JSON object.") }
            items.append(.cookie(try stream.handler.cookie(), place))
        } catch {
            items.append(.failure(.lineMalformed(error.finding), at: place))
        }
    }
}
