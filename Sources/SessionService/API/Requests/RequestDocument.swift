import Captures
import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A document that is asked for so often that it is mostly read without the decoder.
protocol PlainDocument: RequestDocument, SendableMetatype {
    /// The document of a plain object, equal to the decoded one; `nil` if it needs decoding.
    init?(_ object: FlatJSONObject)
}

/// The members of a ``PlainDocument`` besides the details of its request.
protocol PlainMembers: RequestDocument, SendableMetatype {
    /// The document out of a plain object, and how many members were taken besides those of the details; `nil` if the
    /// decoder has to try.
    static func document(_ object: FlatJSONObject, _ details: RequestDetails) -> (Detailed<Self>, count: Int)?
}

extension Detailed: PlainDocument where Members: PlainMembers {
    init?(_ object: FlatJSONObject) {
        let details = RequestDetails(
            method: object.text("method"), topLevel: object.text("topLevel"), initiator: object.text("initiator"),
            navigation: object.bool("navigation"))
        let texts = [details.method, details.topLevel, details.initiator].count { $0 != nil }
        // The decoder refuses a member with another name or another kind of value.
        guard let (document, count) = Members.document(object, details),
            count + texts + (details.navigation == nil ? 0 : 1) == object.count
        else { return nil }
        self = document
    }
}

/// Decodes a document and refuses members that it does not have.
struct StrictlyDecoded<Document: RequestDocument>: Decodable {
    let document: Document

    init(document: Document) {
        self.document = document
    }

    init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: Document.self)
        document = try Document(from: decoder)
    }
}

extension Request {
    /// The document in the body.
    func document<Document: RequestDocument>(
        _ type: Document.Type, in context: ServiceRequestContext
    ) async throws -> Document {
        try await json(StrictlyDecoded<Document>.self, in: context).document
    }

    /// The document in the body, which mostly is a plain one.
    func document<Document: PlainDocument>(
        _ type: Document.Type, in context: ServiceRequestContext
    ) async throws -> Document {
        try await json(StrictlyDecoded<Document>.self, in: context) { Document($0).map(StrictlyDecoded.init) }.document
    }

    /// The document in the body, or an empty one if there is no body.
    func optionalDocument<Document: RequestDocument>(
        _ type: Document.Type, in context: ServiceRequestContext
    ) async throws -> Document {
        try await json(StrictlyDecoded<Document>.self, in: context, ifEmpty: "{}").document
    }

    /// Decodes the JSON in the body, which ``StrictJSON`` must accept.
    ///
    /// - Parameters:
    ///   - standIn: the JSON to use for an empty body.
    ///   - plain: makes the value from a plain object, or returns `nil` if the body needs decoding; `nil` to always
    ///     decode it.
    func json<Value: Decodable>(
        _ type: Value.Type, in context: ServiceRequestContext, ifEmpty standIn: String? = nil,
        plain: ((FlatJSONObject) -> Value?)? = nil
    ) async throws -> Value {
        let body = try await jsonBody(in: context, mayBeEmpty: standIn != nil)
        if body.readableBytes == 0, let standIn {
            return try JSONDecoder().decode(Value.self, from: Data(standIn.utf8))
        }
        let bytes = Array(body.readableBytesView)
        if let plain, let value = FlatJSONObject(bytes).flatMap(plain) { return value }
        try StrictJSON.check(bytes)
        return try JSONDecoder().decode(Value.self, from: Data(bytes))
    }

    /// The whole body. One whose stated length is too large is rejected before it arrives.
    func collectedBody(in context: ServiceRequestContext) async throws -> ByteBuffer {
        if let length = headers.declaredLength, length > context.maxUploadSize {
            throw ServiceFailure.bodyTooLarge
        }
        return try await body.collect(upTo: context.maxUploadSize)
    }

    /// The body, whose media type has to be that of JSON: a page of another origin can send none such without asking
    /// first.
    private func jsonBody(in context: ServiceRequestContext, mayBeEmpty: Bool = false) async throws -> ByteBuffer {
        let body = try await collectedBody(in: context)
        if mayBeEmpty, body.readableBytes == 0 { return body }
        let type = headers.line(.contentType)
        // Nearly all there are, looked at no closer.
        guard
            type == "application/json"
                || type?.prefix(while: { $0 != ";" }).lowercased().trimmingWhitespace
                    == "application/json"
        else {
            throw ServiceFailure(
                .mediaTypeUnsupported, "send JSON, as 'Content-Type: application/json'")
        }
        return body
    }
}
