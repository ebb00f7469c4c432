import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A JSON object of a request, which has the members that are known and no others: one that is misspelt would change
/// what is asked for without a word.
protocol RequestDocument: Decodable {
    associatedtype CodingKeys: CodingKey, CaseIterable
}

/// Decodes a document and refuses members that it does not have.
struct Exactly<Document: RequestDocument>: Decodable {
    let document: Document

    init(from decoder: any Decoder) throws {
        let known = Set(Document.CodingKeys.allCases.map(\.stringValue))
        let members = try decoder.container(keyedBy: AnyMember.self)
        for member in members.allKeys where !known.contains(member.stringValue) {
            let place = ServiceProblem.place(decoder.codingPath + [member])
            throw ServiceProblem.bodyInvalid("\(place.prefix(100)): there is no such member")
        }
        document = try Document(from: decoder)
    }
}

/// A member of whatever name.
private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

extension Request {
    /// The document in the body.
    func document<Document: RequestDocument>(
        _ type: Document.Type, in context: ServiceRequestContext
    ) async throws -> Document {
        try await json(Exactly<Document>.self, in: context).document
    }

    /// The document in the body, or an empty one where there is no body.
    func optionalDocument<Document: RequestDocument>(
        _ type: Document.Type, in context: ServiceRequestContext
    ) async throws -> Document {
        try await json(Exactly<Document>.self, in: context, ifEmpty: "{}").document
    }

    /// The JSON in the body.
    ///
    /// Its media type has to be that of JSON: a page of another origin can send none such without asking first.
    func json<Value: Decodable>(
        _ type: Value.Type, in context: ServiceRequestContext, ifEmpty standIn: String? = nil
    ) async throws -> Value {
        let body = try await body.collect(upTo: context.maxUploadSize)
        if body.readableBytes == 0, let standIn {
            return try JSONDecoder().decode(Value.self, from: Data(standIn.utf8))
        }
        let mediaType = headers[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
        guard mediaType.trimmingCharacters(in: .whitespaces) == "application/json" else {
            throw ServiceProblem(
                .unsupportedMediaType, "media-type-unsupported", "send JSON, as 'Content-Type: application/json'")
        }
        return try JSONDecoder().decode(Value.self, from: Data(body.readableBytesView))
    }
}
