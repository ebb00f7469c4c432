import WebPrimitives

/// The JSON object of a request. Unknown members are rejected, because a misspelled member would silently change what
/// is requested.
package protocol RequestDocument: Codable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable
    /// The names of the members.
    static var memberNames: Set<String> { get }
}

extension RequestDocument {
    package static var memberNames: Set<String> { Set(CodingKeys.allCases.map(\.stringValue)) }
}

extension Decoder {
    /// Rejects members that a document does not have.
    package func requireMembers<Document: RequestDocument>(of document: Document.Type) throws(RequestFault) {
        // A body that is not an object is reported when the document is decoded.
        guard let member = try? firstMember(besides: Document.memberNames) else { return }
        let place = RequestFault.place(codingPath + [member])
        throw RequestFault("\(place.prefix(100)): unknown member")
    }
}

/// An invalid member of a request. The detail names the member and contains nothing of its value.
package struct RequestFault: Error {
    package let detail: String

    init(_ detail: String) {
        self.detail = detail
    }

    /// A member's place in a document.
    package static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the body" : path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

/// The whole numbers that a member accepts.
package protocol NumberRange: Sendable {
    static var range: ClosedRange<Int> { get }
}

extension NumberRange {
    /// A hint that names the accepted numbers.
    package static var hint: String {
        range.upperBound == .max
            ? "use a whole number from \(range.lowerBound)"
            : "use a whole number from \(range.lowerBound) to \(range.upperBound)"
    }
}

/// The status of a response.
package enum StatusRange: NumberRange {
    /// The accepted numbers.
    package static let range = 100...999
}

/// A count.
package enum CountRange: NumberRange {
    /// The accepted numbers.
    package static let range = 0...Int.max
}

/// The octets that a cache may hold.
package enum CacheSizeRange: NumberRange {
    /// The accepted numbers.
    package static let range = 1...Int.max
}

/// A port; 0 for any that is free.
package enum PortRange: NumberRange {
    /// The accepted numbers.
    package static let range = 0...65_535
}

/// The seconds for which a token still has to be valid.
package enum TokenSkew: NumberRange {
    /// The accepted numbers.
    package static let range = 0...86_400
    /// The seconds if the caller names none.
    package static let usual = 60
}

/// A member that is a whole number of a range. The service rejects anything else, such as 1.5, -1 or 1e99.
package struct Number<Range: NumberRange>: Codable, Sendable, Hashable {
    /// The value.
    package let value: Int

    /// A number; `nil` if it is out of the range.
    package init?(_ value: Int) {
        guard Range.range.contains(value) else { return nil }
        self.value = value
    }

    /// The number of a request, which the service checks.
    package init(unchecked value: Int) {
        self.value = value
    }

    /// Decodes a number of the range.
    package init(from decoder: any Decoder) throws {
        // The decoder names no member if a number is not one of its own.
        guard let number = (try? decoder.singleValueContainer().decode(Int.self)).flatMap(Number.init) else {
            throw RequestFault("\(RequestFault.place(decoder.codingPath)): \(Range.hint)")
        }
        self = number
    }

    /// Encodes the member.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// The details of a request, other than its URL, that the cookie rules need. `nil` means the service's default.
public struct RequestDetails: Codable, Sendable, Hashable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case method, topLevel, initiator, navigation
    }

    /// The method of the request; GET by default.
    package var method: String?
    /// The URL of the page in the address bar; by default that of the request.
    package var topLevel: String?
    /// The URL of the origin that starts the request, or `user` for a person.
    package var initiator: String?
    /// Whether the request navigates the page in the address bar; by default, if `topLevel` is missing.
    package var navigation: Bool?

    /// Creates the details of a request. `nil` means the service's default.
    public init(
        method: String? = nil, topLevel: String? = nil, initiator: String? = nil, navigation: Bool? = nil
    ) {
        self.method = method
        self.topLevel = topLevel
        self.initiator = initiator
        self.navigation = navigation
    }
}

/// A document with the details of a request among its members: one JSON object has the members of both.
public struct Detailed<Members: Codable & Sendable>: Codable, Sendable {
    /// The members besides the details.
    package let members: Members
    /// The details of the request.
    package let details: RequestDetails

    init(_ members: Members, _ details: RequestDetails) {
        self.members = members
        self.details = details
    }

    /// Decodes both from one object.
    public init(from decoder: any Decoder) throws {
        members = try Members(from: decoder)
        details = try RequestDetails(from: decoder)
    }

    /// Encodes both as one object.
    public func encode(to encoder: any Encoder) throws {
        try members.encode(to: encoder)
        try details.encode(to: encoder)
    }
}

extension Detailed: RequestDocument where Members: RequestDocument {
    package typealias CodingKeys = Members.CodingKeys

    package static var memberNames: Set<String> { Members.memberNames.union(RequestDetails.memberNames) }
}
