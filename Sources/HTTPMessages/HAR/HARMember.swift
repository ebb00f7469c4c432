package import WebPrimitives

/// The members of a HAR that a reader can select, each right before the members within it.
package enum HARMember: Int, CaseIterable, Sendable {
    case document, log
    case creator, creatorName, browser, browserName
    case pages, page, pageID, pageTitle
    case entries, entry
    case startedDateTime, time, pageReference
    // Members that Chromium's tools add.
    case frameReference, resourceType, initiator, initiatorURL
    case request, method, url, requestFields
    case postData, postText, postEncoding, postOwnEncoding
    case response, status, statusText, error, responseFields, cookies
    case content, size, encoding, contentEncoding, text

    /// The values that a place has.
    enum Kind {
        case object
        /// An array whose elements are one member.
        case array
        /// An array of objects with `name` and `value`: a ``HARFields``.
        case fields
        case value
        /// A string that may be long: only its place is noted.
        case text
    }

    /// The member's name, the container that it is in, and what it holds.
    private var row: (name: StaticString, parent: HARMember, kind: Kind) {
        switch self {
        case .document: ("", .document, .object)
        case .log: ("log", .document, .object)
        case .creator: ("creator", .log, .object)
        case .creatorName: ("name", .creator, .value)
        case .browser: ("browser", .log, .object)
        case .browserName: ("name", .browser, .value)
        case .pages: ("pages", .log, .array)
        case .page: ("", .pages, .object)
        case .pageID: ("id", .page, .value)
        case .pageTitle: ("title", .page, .value)
        case .entries: ("entries", .log, .array)
        case .entry: ("", .entries, .object)
        case .startedDateTime: ("startedDateTime", .entry, .value)
        case .time: ("time", .entry, .value)
        case .pageReference: ("pageref", .entry, .value)
        case .frameReference: ("_frameref", .entry, .value)
        case .resourceType: ("_resourceType", .entry, .value)
        case .initiator: ("_initiator", .entry, .object)
        case .initiatorURL: ("url", .initiator, .value)
        case .request: ("request", .entry, .object)
        case .method: ("method", .request, .value)
        case .url: ("url", .request, .value)
        case .requestFields: ("headers", .request, .fields)
        case .postData: ("postData", .request, .object)
        case .postText: ("text", .postData, .value)
        case .postEncoding: ("encoding", .postData, .value)
        case .postOwnEncoding: ("_encoding", .postData, .value)
        case .response: ("response", .entry, .object)
        case .status: ("status", .response, .value)
        case .statusText: ("statusText", .response, .value)
        case .error: ("_error", .response, .value)
        case .responseFields: ("headers", .response, .fields)
        case .cookies: ("cookies", .response, .fields)
        case .content: ("content", .response, .object)
        case .size: ("size", .content, .value)
        case .encoding: ("encoding", .content, .value)
        case .contentEncoding: ("_contentEncoding", .content, .value)
        case .text: ("text", .content, .text)
        }
    }

    var name: StaticString { row.name }
    var parent: HARMember { row.parent }
    var kind: Kind { row.kind }

    /// The member and all members within it, as raw values.
    var family: Range<Int> { HARMember.families[rawValue] }

    private static let families = allCases.map { member in
        let end = allCases.dropFirst(member.rawValue + 1).first { !$0.isWithin(member) }
        return member.rawValue..<(end?.rawValue ?? allCases.count)
    }

    private func isWithin(_ other: HARMember) -> Bool {
        parent == other || self != .document && parent.isWithin(other)
    }
}

/// The value of a member.
package enum HARValue: Sendable {
    case missing
    case null
    case string(Octets)
    /// A string longer than ``JSONLimits/stringByteCount``, which is gone.
    case tooLong
    case number(integer: Int?, millionths: Int64)
    /// A container whose members were read.
    case read
    /// Anything else.
    case other

    init(_ scalar: JSONScalar) {
        switch scalar {
        case .null: self = .null
        case .boolean: self = .other
        case .number(let number): self = .number(integer: number.integer, millionths: number.millionths)
        }
    }

    /// The octets of a string.
    package var octets: Octets? {
        if case .string(let octets) = self { octets } else { nil }
    }

    /// The text of a string. Octets that are not UTF-8 become U+FFFD.
    package var text: String? {
        octets.map { $0.withSpan { String(repairing: $0) } }
    }

    /// The number, if it is a whole one.
    package var integer: Int? {
        if case .number(let integer, _) = self { integer } else { nil }
    }

    /// Whether it is missing or null.
    package var isAbsent: Bool {
        switch self {
        case .missing, .null: true
        case .string, .tooLong, .number, .read, .other: false
        }
    }
}
