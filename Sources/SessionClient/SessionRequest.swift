@_exported public import SessionWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request to the service, with the type of its response.
///
/// The static functions make the requests. A request contains no connection and no access token. ``SessionClient`` sends
/// it.
///
/// ```swift
/// let answer = try await client.answer(to: .decorate(DecorateDocument(url: "https://www.example.com/"), in: "work"))
/// ```
public struct SessionRequest<Answer>: Sendable {
    /// The operation that is asked for.
    package let operation: OperationDescription
    /// The values of the path's parameters, in order.
    package let arguments: [String]
    /// The parameters of the query.
    package let parameters: [(name: String, value: String)]
    /// The body; `nil` for a request without one.
    package let document: (any Encodable & Sendable)?
    /// The media type of the answer.
    package let accept: String

    /// - Parameters:
    ///   - arguments: The values of the path's parameters, in order, not encoded.
    ///   - query: The parameters of the query; those without a value are left out.
    init(
        _ operation: OperationDescription, _ arguments: String..., query: [(name: String, value: String?)] = [],
        document: (any Encodable & Sendable)? = nil, accept: String = "application/json"
    ) {
        self.operation = operation
        self.arguments = arguments
        parameters = query.compactMap { name, value in value.map { (name, $0) } }
        self.document = document
        self.accept = accept
    }

    /// The method.
    package var method: String { operation.method.rawValue }

    /// The path and query, relative to the service's address, percent-encoded.
    package var target: String {
        let path = operation.path(arguments, percentEncoded)
        let query = parameters.map { "\($0.name)=\(percentEncoded($0.value))" }
        return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
    }

    /// Encodes the body.
    ///
    /// - Returns: The body in JSON; `nil` for a request without one.
    package func encodedBody() throws -> [UInt8]? {
        try document.map { Array(try JSONEncoder().encode($0)) }
    }
}

/// A stream of bytes.
public typealias SessionBytes = any AsyncSequence<[UInt8], any Error> & Sendable

extension SessionRequest where Answer: Decodable {
    /// Decodes an answer with a status of success.
    ///
    /// - Throws: ``SessionClientError`` if it is no answer of this version of the service.
    package static func decode(_ bytes: [UInt8], from address: SessionAddress) throws(SessionClientError) -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes))
        } catch {
            throw SessionClientError(incompatible: address)
        }
    }
}

/// A text as one segment of a path, or as a part of a query (RFC 3986, section 2.1).
func percentEncoded(_ text: String) -> String {
    // Dots alone would be another folder.
    if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
    return text.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
    }.joined()
}
