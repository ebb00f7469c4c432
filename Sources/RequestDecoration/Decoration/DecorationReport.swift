public import CookieModel
public import HTTPTypes

/// What went onto a request, and what stayed out and why. Holds no credential.
public struct DecorationReport: Sendable {
    /// A cookie that the jar has for the request and that did not go.
    public struct CookieOmission: Sendable {
        /// The cookie.
        public let cookie: Cookie
        /// Why.
        public let reason: CookieOmissionReason
    }

    /// A field that did not go.
    public struct FieldOmission: Sendable, Hashable {
        /// The field's name.
        public let name: HTTPField.Name
        /// Why.
        public let reason: FieldOmissionReason
    }

    /// What the rules say of the jar's cookies: which are for this request, and why the others are not.
    public let retrieval: Retrieval
    /// The jar's cookies that went, in the order of the header.
    public let cookies: [Cookie]
    /// The cookies that are for this request and stayed out all the same.
    public let cookieOmissions: [CookieOmission]
    /// The names of the other fields that went in, in the order they were set.
    public let fields: [HTTPField.Name]
    /// The fields that stayed out. Of several rules for credentials that are not for this URL, there is one entry.
    public let fieldOmissions: [FieldOmission]
}
