import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore
import WebPrimitives

/// The context of a request while it is answered.
struct ServiceRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The caller. ``Caller/nobody`` until the request is admitted.
    var caller = Caller.nobody
    /// Whether the caller is known by the cookie of the inspector's sign-in, and by nothing else.
    var isInspectorSession = false
    /// Where the request came from: an address, or the name of the listener.
    var peer = ""
    /// Records which secrets were read; `nil` without an audit log. See ``audit(_:)``.
    var auditLog: AuditWriter?
    /// The parameters of the URL's query, of those that the route knows.
    var query = QueryItems()
    /// The lock that guards secrets and changes; `nil` for a route without secrets and changes.
    var lock: AgentLock?
    /// Records persistent failures; `nil` if they are not recorded.
    var health: ServiceHealth?
    /// The state that a database server had committed when the request arrived; `nil` for a file. See
    /// ``SessionAPI/jarOnArrival(in:)``.
    var committed: CommittedState?
    /// Counts the results for cookies; `nil` if they are not counted.
    var metrics: ServiceMetrics?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// The bodies of the API's JSON requests are small; captures are streamed.
    var maxUploadSize: Int { 4 << 20 }

    /// Checks that someone asks.
    func requireCaller() throws(ServiceFailure) {
        guard !caller.grant.verbs.isEmpty else { throw .unauthenticated }
    }

    /// Checks that the caller may do something with jars, whatever ones.
    func requireForSomeJars(_ verb: AccessVerb) throws(ServiceFailure) {
        guard caller.grant.verbs.contains(verb) else { throw .forbidden(verb) }
        try requireUnlocked(verb)
    }

    /// Checks that the caller may do something that belongs to no jar.
    func require(_ verb: AccessVerb) throws(ServiceFailure) {
        guard caller.grant.verbs.contains(verb) else { throw .forbidden(verb) }
        guard caller.grant.coversAll else { throw .allJarsNeeded }
        try requireUnlocked(verb)
    }

    /// Checks that the caller may do something with a jar.
    ///
    /// A jar outside the grant is answered like a jar that does not exist, so that its existence stays unknown.
    func require(_ verb: AccessVerb, jar name: String) throws(ServiceFailure) {
        guard caller.grant.covers(jar: name) else { throw .jarNotFound(name) }
        guard caller.grant.verbs.contains(verb) else { throw .forbidden(verb) }
        try requireUnlocked(verb)
    }

    /// Checks that the service is not locked, if the request discloses a secret or changes anything.
    private func requireUnlocked(_ verb: AccessVerb) throws(ServiceFailure) {
        guard verb != .read else { return }
        try lock?.check()
    }

    /// The jar that the path names.
    var jarName: String {
        get throws(ServiceFailure) { try pathParameter("jar") }
    }

    /// A segment of the path, decoded (RFC 3986, section 2.1).
    func pathParameter(_ name: String) throws(ServiceFailure) -> String {
        let segment = parameters.get(name)
        // Most names need no decoding, which costs more than all else that is done with them.
        if let segment, !segment.utf8.contains(UInt8(ascii: "%")) { return segment }
        guard let text = segment.flatMap({ PercentEncoding.text($0) }) else {
            throw ServiceFailure(.pathInvalid, "the path is not percent-encoded UTF-8")
        }
        guard !text.utf8.contains(0) else {
            throw ServiceFailure(.pathInvalid, "the path contains %00; no name contains U+0000")
        }
        return text
    }
}

extension QueryItems {
    /// The parameters of a request.
    ///
    /// - Parameter known: the parameters that count. Another one is refused: a condition that is misspelt would be none.
    init(_ request: Request, known: Set<String>) throws(ServiceFailure) {
        var items: [(name: String, value: String)] = []
        for pair in (request.uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try QueryItems.decoded(parts[0])
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                throw .parameterInvalid(
                    String(name.prefix(100)), known.isEmpty ? "this route has no parameters" : "use one of \(names)")
            }
            items.append((name, try QueryItems.decoded(parts.count > 1 ? parts[1] : "")))
        }
        self.init(items)
    }

    private static func decoded(_ text: Substring) throws(ServiceFailure) -> String {
        guard let decoded = PercentEncoding.text(text, plusIsSpace: true) else {
            throw ServiceFailure(.parameterInvalid, "the query is not percent-encoded UTF-8")
        }
        return decoded
    }
}
