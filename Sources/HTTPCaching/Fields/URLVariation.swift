import WebPrimitives

/// The parts of a query that do not change a response: the URL variation config of No-Vary-Search.
///
/// Sections are those of <https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-no-vary-search-05>.
struct URLVariation: Sendable, Hashable {
    /// Parameters by name.
    enum Parameters: Sendable, Hashable {
        /// All but these change the response: `params=(…)`.
        case allExcept(Set<Octets>)
        /// Only these change the response: `except=(…)`.
        case only(Set<Octets>)
    }

    /// The parameters that change the response.
    let significant: Parameters
    /// Whether the order of different parameters changes the response.
    let variesOnOrder: Bool

    /// Every part changes the response: the default URL variation config.
    static let none = URLVariation(significant: .allExcept([]), variesOnOrder: true)

    private init(significant: Parameters, variesOnOrder: Bool) {
        self.significant = significant
        self.variesOnOrder = variesOnOrder
    }

    /// Obtains the URL variation config of a response (sections 5.1 and 5.2).
    init(_ fields: MessageFields) {
        self = URLVariation.parsed(fields) ?? .none
    }

    /// Section 5.1: Parses a URL variation config; `nil` for the default one.
    private static func parsed(_ fields: MessageFields) -> URLVariation? {
        // Step 1: Without a field, or with one that is not a dictionary, return the default.
        guard let value = StructuredField.dictionary(fields.values("no-vary-search")) else { return nil }
        // Steps 3 and 4: The order counts unless key-order is true. If key-order is not a Boolean, return the default.
        var variesOnOrder = true
        if let order = value["key-order"] {
            guard case .item(.boolean(let isIgnored)) = order else { return nil }
            variesOnOrder = !isIgnored
        }
        switch (value["params"], value["except"]) {
        case (nil, nil):
            // Step 5: If there is neither params nor except, return the default. Departure: browsers follow key-order on
            // its own, and so do the draft's own examples.
            return URLVariation(significant: .allExcept([]), variesOnOrder: variesOnOrder)
        case (_?, _?):
            // Step 5: If there are both, return the default.
            return nil
        case (let parameters?, nil):
            // Step 6: Take the keys of params. If it is not a list of strings, return the default.
            return keys(parameters).map { URLVariation(significant: .allExcept($0), variesOnOrder: variesOnOrder) }
        case (nil, let parameters?):
            // Step 7: Take the keys of except. If it is not a list of strings, return the default.
            return keys(parameters).map { URLVariation(significant: .only($0), variesOnOrder: variesOnOrder) }
        }
    }

    /// Section 5.3: The keys of an inner list of strings.
    private static func keys(_ member: StructuredField.Member) -> Set<Octets>? {
        guard case .innerList(let items) = member else { return nil }
        var keys: Set<Octets> = []
        for item in items {
            guard case .string(let text) = item else { return nil }
            keys.insert(decoded(text))
        }
        return keys
    }

    /// A name or value: `+` is a space, and `%` with two digits is an octet. What is not UTF-8 becomes U+FFFD.
    private static func decoded(_ text: Octets) -> Octets {
        let bytes = text.withSpan { PercentEncoding.decode($0, plusIsSpace: true) }
        return Octets(String(decoding: bytes, as: UTF8.self))
    }

    /// A URL, whose query is decoded once for all that it is compared with.
    struct Target {
        let url: RequestURL
        fileprivate lazy var parameters = URLVariation.parameters(url.query)

        init(_ url: RequestURL) {
            self.url = url
        }
    }

    /// Whether two URLs are equivalent modulo this variation (section 6).
    ///
    /// In the number of parameters, n log n steps if their order does not count, and n otherwise.
    func areEquivalent(_ left: inout Target, _ right: RequestURL) -> Bool {
        // Step 1: If scheme, host, port or path differ, return false. A `RequestURL` has no user information.
        guard left.url.isSameOrigin(as: right), left.url.path == right.path else { return false }
        // Step 2: By the default, compare the queries.
        if left.url.query == right.query { return true }
        if self == .none { return false }
        // Steps 3 to 8: Take the parameters of both that count, sorted if the order does not count.
        // Steps 9 to 12: Compare them in order.
        return significant(left.parameters) == significant(Self.parameters(right.query))
    }

    fileprivate struct Parameter: Equatable {
        let name: Octets
        let value: Octets
    }

    /// The parameters of a query: those of the application/x-www-form-urlencoded parser.
    private static func parameters(_ query: Octets) -> [Parameter] {
        query.dropFirst().split(separator: ASCII.ampersand).map { part in
            let equals = part.firstIndex(of: ASCII.equals) ?? part.endIndex
            return Parameter(
                name: decoded(Octets(part[part.startIndex..<equals])),
                value: decoded(Octets(part[equals...].dropFirst())))
        }
    }

    /// The parameters that count.
    private func significant(_ parameters: [Parameter]) -> [Parameter] {
        let pairs = parameters.filter { isSignificant($0.name) }
        guard !variesOnOrder else { return pairs }
        // The sort is stable: parameters of one name keep their order.
        return pairs.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }

    private func isSignificant(_ name: Octets) -> Bool {
        switch significant {
        case .allExcept(let names): !names.contains(name)
        case .only(let names): names.contains(name)
        }
    }
}
