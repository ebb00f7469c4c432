import CookieModel
import WebPrimitives

/// Reads JSON lines of our own, as ``CookieLineWriter`` writes them: a cookie a line, nothing lost.
///
/// A line that is no cookie is one failure. Empty lines are nothing.
struct CookieLineReader: LineContent {
    private struct Problem: Error {
        let finding: String
    }

    /// The names under which octets that are not UTF-8 stand in Base64, and what they are.
    private static let base64Members = ["nameBase64": "name", "valueBase64": "value", "pathBase64": "path"]

    func take(_ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        do throws(Problem) {
            switch JSONValue(parsing: line) {
            case .object(let object)?: items.append(.cookie(try Self.record(object), place))
            case .array?: items.append(.cookie(try Self.record(JSONObject()), place))
            default: throw Problem(finding: "The line is not a JSON object.")
            }
        } catch {
            items.append(.failure(.lineMalformed(error.finding), at: place))
        }
    }

    /// The cookie with these members. Unknown ones are ignored, so that later versions can add some.
    private static func record(_ object: JSONObject) throws(Problem) -> CookieRecord {
        var record = CookieRecord(name: [], value: [], domain: "", isHostOnly: false)
        var version: Int?
        var invalidMember: String?
        var missing: Set<String> = ["name", "value", "domain", "hostOnly", "path", "secure", "httpOnly"]
        func set<Value>(_ target: inout Value, _ value: Value?) -> Bool {
            guard let value else { return false }
            target = value
            return true
        }
        for (name, value) in zip(object.names, object.values) {
            guard let member = name.utf8String else { continue }
            let isValid =
                switch member {
                case "crumb": set(&version, value.integer)
                case "name": set(&record.name, value.octets)
                case "nameBase64": set(&record.name, decoded(value))
                case "value": set(&record.value, value.octets)
                case "valueBase64": set(&record.value, decoded(value))
                case "domain": set(&record.domain, value.octets?.utf8String)
                case "hostOnly": set(&record.isHostOnly, value.boolean)
                case "path": set(&record.path, value.octets)
                case "pathBase64": set(&record.path, decoded(value))
                case "secure": set(&record.isSecure, value.boolean)
                case "httpOnly": set(&record.isHTTPOnly, value.boolean)
                case "sameSite": set(&record.sameSite, sameSite(value))
                case "expires": set(&record.expiry, moment(value))
                case "created": set(&record.creation, moment(value))
                case "lastAccess": set(&record.lastAccess, moment(value))
                case "partitionKey":
                    set(&record.partitionKey, value.octets?.utf8String.flatMap(PartitionKey.init(serialized:)))
                default: true
                }
            if !isValid { invalidMember = invalidMember ?? member }
            missing.remove(Self.base64Members[member] ?? member)
        }
        guard let version else {
            throw Problem(finding: "The line has no member 'crumb' with the version of its format.")
        }
        guard version == 1 else {
            throw Problem(finding: "The line has version \(version) of its format, which requires a newer crumb.")
        }
        if let invalidMember { throw Problem(finding: "The member '\(invalidMember)' is not valid.") }
        guard missing.isEmpty else {
            throw Problem(finding: "The line lacks one of name, value, domain, hostOnly, path, secure and httpOnly.")
        }
        return record
    }

    private static func decoded(_ value: JSONValue) -> Octets? {
        value.octets.flatMap { Base64.decode($0) }.map { Octets($0) }
    }

    private static func sameSite(_ value: JSONValue) -> SameSite? {
        SameSite.allCases.first { $0.attributeValue.map { Octets($0) == value.octets } == true }
    }

    private static func moment(_ value: JSONValue) -> Timestamp? {
        guard let text = value.octets else { return nil }
        return Timestamp(rfc3339: text)
            ?? text.utf8String.flatMap(Int64.init).map(Timestamp.init(microseconds:))
    }
}
