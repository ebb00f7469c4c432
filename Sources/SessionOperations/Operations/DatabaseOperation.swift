package import SessionWire

/// An operation of the service that needs nothing but the database: its description, and the work that answers it.
///
/// The service mounts a route for it, and the command does the same work on a database file. `Document` is the body of
/// its requests; `Output` is the answer, `Void` for an empty one.
package struct DatabaseOperation<Document: RequestDocument, Output: Sendable>: Sendable {
    package typealias Work = @Sendable (OperationInput<Document>, inout OperationContext) throws -> Output

    package let description: OperationDescription
    /// Answers a request of a caller who has the access that the description names.
    package let work: Work

    init(_ description: OperationDescription, _ work: @escaping Work) {
        self.description = description
        self.work = work
    }
}

/// What an operation is asked for.
package struct OperationInput<Document: RequestDocument>: Sendable {
    /// The jar in the path; empty if the path has none.
    package let jar: String
    /// The other name in the path; empty if the path has none.
    package let name: String
    package let query: QueryItems
    package let document: Document

    package init(jar: String, name: String, query: QueryItems, document: Document) {
        self.jar = jar
        self.name = name
        self.query = query
        self.document = document
    }
}

/// The document of an operation without a body.
package struct NoDocument: RequestDocument {
    package enum CodingKeys: CodingKey, CaseIterable {}

    package init() {}
}
