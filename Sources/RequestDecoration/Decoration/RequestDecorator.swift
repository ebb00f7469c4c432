public import CookieModel
public import HTTPTypes
public import SessionStore

/// Adds to requests what a browser with this jar would add.
public struct RequestDecorator: Sendable {
    /// The jar that cookies come from and go to.
    public let jar: CookieJar

    /// A decorator over a jar.
    public init(jar: CookieJar) {
        self.jar = jar
    }

    /// Adds the Cookie field of `context` to a copy of `request`.
    ///
    /// Where the caller has set cookies already, the caller's value wins by name, and all go in one field.
    ///
    /// - Returns: the decorated request, and which cookies went in or stayed out, with reasons.
    public func decorate(
        _ request: HTTPRequest, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> (request: HTTPRequest, report: Retrieval) {
        let retrieval = try jar.retrieve(for: context, now: now)
        var decorated = request
        let own = request.headerFields[fields: .cookie].map { field in
            field.withUnsafeBytesOfValue { Octets(Array($0)) }
        }
        let ownNames = Set(own.flatMap(RequestDecorator.names))
        let pairs = own.filter { !$0.isEmpty } + retrieval.included.filter { !ownNames.contains($0.name) }.map(\.pair)
        if !pairs.isEmpty {
            let octets = Octets(Array(pairs.joined(separator: "; ".utf8)))
            // One field, not the several that an assignment to the subscript would make of it; octets, not text.
            decorated.headerFields[fields: .cookie] = [HTTPField(name: .cookie, lenientValue: octets)]
        }
        return (decorated, retrieval)
    }

    /// The names in a Cookie field value; a pair without an equals sign has none.
    private static func names(_ fieldValue: Octets) -> [Octets] {
        fieldValue.split(separator: UInt8(ascii: ";")).map { pair in
            let trimmed = pair.drop { $0 == 0x20 || $0 == 0x09 }
            guard let equals = trimmed.firstIndex(of: UInt8(ascii: "=")) else { return [] }
            return Octets(Array(trimmed[..<equals]))
        }
    }
}
