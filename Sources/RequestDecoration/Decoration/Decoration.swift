public import CookieModel
public import HTTPTypes
package import SessionStore

/// The cookies and header fields that a jar adds to one request, and those that it omits, with every reason. They are
/// computed once, and rendered by the library, the commands and the service.
package struct Decoration: Sendable {
    /// The decision of the rules on the jar's cookies.
    package let retrieval: Retrieval
    /// The Cookie field.
    package let cookies: CookieMerge
    /// The header fields of the jar or of the settings.
    package internal(set) var fields: FieldSelection
    /// The fields that present a token.
    package var credential: [HTTPField] = []

    /// The decoration of a request.
    ///
    /// - Parameters:
    ///   - own: the values of the caller's own Cookie fields.
    ///   - selects: whether a cookie for the request goes; `nil` if all do but those with the names of the caller's own.
    ///   - order: the pairs of which a client knows the order.
    ///   - carries: whether the client sends octets exactly as they are; `nil` if it does so with all.
    package init(
        _ retrieval: Retrieval, own: [Octets] = [], fields: FieldSelection = FieldSelection(),
        selecting selects: ((Cookie) -> Bool)? = nil, order: [Octets] = [], carries: ((Octets) -> Bool)? = nil
    ) {
        self.retrieval = retrieval
        self.fields = fields
        cookies =
            own.isEmpty && selects == nil && carries == nil
            ? CookieMerge(retrieval)
            : CookieMerge(
                own: own, jar: selects.map { retrieval.included.filter($0) } ?? retrieval.included,
                winsByName: selects == nil, order: order, carries: carries ?? { _ in true })
    }

    /// The fields other than Cookie. One that presents a token takes the place of the jar's own of that name.
    package var headerFields: [(name: String, value: Octets)] {
        let credential = credential.map { (name: $0.name.rawName, value: $0.octets) }
        let names = Set(credential.map { $0.name.lowercased() })
        return fields.sent.filter { !names.contains($0.name.lowercased()) }.map { ($0.name, $0.value) } + credential
    }

    /// Sets the fields of a request.
    func render<Request: DecoratableRequest>(on request: inout Request) {
        if !cookies.octets.isEmpty { request.setField(.cookie, cookies.octets) }
        for field in fields.sent { request.setField(field.fieldName, field.value) }
        for field in credential { request.setField(field.name, field.octets) }
    }
}

extension CookieJar {
    /// Returns the cookies and header fields that the jar adds to a request.
    ///
    /// - Parameters:
    ///   - own: The values of the caller's own Cookie fields.
    ///   - withFields: Whether header fields are added too.
    ///   - selects: Whether a cookie for the request is sent; `nil` to send all except those with the names of the
    ///     caller's own.
    ///   - order: The pairs of which a client knows the order: those that are sent keep it.
    ///   - isSetByCaller: Whether the request already has a field of the name, which is in lower case.
    package func decoration(
        for context: RequestContext, own: [Octets] = [], withFields: Bool = true,
        selecting selects: ((Cookie) -> Bool)? = nil, order: [Octets] = [],
        isSetByCaller: (String) -> Bool = { _ in false }, now: Timestamp
    ) throws(SessionStoreError) -> Decoration {
        let retrieval = try retrieve(for: context, now: now)
        let fields = withFields ? try cachedHeaderFields() : []
        return Decoration(
            retrieval, own: own, fields: FieldSelection(fields, for: context.url, isSetByCaller: isSetByCaller),
            selecting: selects, order: order)
    }

    /// The same without blocking the caller's thread.
    package func decoration(
        for context: RequestContext, own: [Octets] = [], withFields: Bool = true,
        selecting selects: ((Cookie) -> Bool)? = nil, order: [Octets] = [],
        isSetByCaller: (String) -> Bool = { _ in false }, at time: Timestamp
    ) async throws(SessionStoreError) -> Decoration {
        let retrieval = try await retrieveToEnd(for: context, at: time)
        let fields = withFields ? try await currentHeaderFields() : []
        return Decoration(
            retrieval, own: own, fields: FieldSelection(fields, for: context.url, isSetByCaller: isSetByCaller),
            selecting: selects, order: order)
    }
}

extension RequestDecorator {
    /// The cookies and fields that were added to a request, and those that were left out, with the reasons. Contains no
    /// credential.
    public struct Report: Sendable {
        /// A cookie that the jar has for the request and that was left out.
        public struct CookieOmission: Sendable {
            /// The cookie.
            public let cookie: Cookie
            /// The reason why it was left out.
            public let reason: CookieOmissionReason
        }

        /// A field that was left out.
        public struct FieldOmission: Sendable, Hashable {
            /// The field's name.
            public let name: HTTPField.Name
            /// The reason why it was left out.
            public let reason: FieldOmissionReason
        }

        /// The result of the retrieval rules: which cookies of the jar are for this request, and why the others are not.
        public let retrieval: Retrieval
        /// The jar's cookies that were added, in the order of the header.
        public let cookies: [Cookie]
        /// The cookies that are for this request but were left out.
        public let cookieOmissions: [CookieOmission]
        /// The names of the other fields that were added, in order.
        public let fields: [HTTPField.Name]
        /// The fields that were left out. Several credential rules that are not for this URL have one entry.
        public let fieldOmissions: [FieldOmission]

        /// The decoration without its values.
        init(_ decoration: Decoration) {
            retrieval = decoration.retrieval
            cookies = decoration.cookies.cookies
            cookieOmissions = decoration.cookies.omissions
            fields = decoration.fields.sent.map(\.fieldName) + decoration.credential.map(\.name)
            fieldOmissions = decoration.fields.omitted.compactMap { omission in
                HTTPField.Name(omission.name).map { FieldOmission(name: $0, reason: omission.reason) }
            }
        }
    }
}
