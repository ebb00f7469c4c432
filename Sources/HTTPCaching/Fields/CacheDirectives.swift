import WebPrimitives

/// The directives of Cache-Control fields (RFC 9111, section 5.2): names in lower case, with their arguments.
struct CacheDirectives: Sendable {
    /// The argument of a directive.
    enum Argument: Sendable, Hashable {
        /// The directive has no argument.
        case none
        /// A token, or the content of a quoted string. Recipients accept both.
        case text(Octets)
        /// Something else, such as a value after a blank.
        case invalid
    }

    private let directives: [(name: Octets, argument: Argument)]
    /// The words of malformed members, such as `no-store;` and `no-cache no-store`.
    private let words: Set<Octets>

    /// Reads the members of Cache-Control.
    init(_ fields: MessageFields) {
        var directives: [(name: Octets, argument: Argument)] = []
        var words: Set<Octets> = []
        for member in FieldList.members(fields.values("cache-control")) {
            let directive = Self.directive(member)
            if let directive { directives.append(directive) }
            if directive.map({ $0.argument == .invalid }) ?? true { words.formUnion(Self.words(member)) }
        }
        self.directives = directives
        self.words = words
    }

    private static func directive(_ member: Octets) -> (name: Octets, argument: Argument)? {
        guard let equals = member.firstIndex(of: ASCII.equals) else {
            return FieldList.isToken(member) ? (member.lowercased, .none) : nil
        }
        let written = member[0..<equals]
        let name = written.trimmingBlanks
        guard FieldList.isToken(name) else { return nil }
        let value = member[(equals + 1)..<member.count]
        // NB: `max-age =60` is malformed, but has to make the response stale rather than be overlooked.
        guard name.count == written.count else { return (name.lowercased, .invalid) }
        if FieldList.isToken(value) { return (name.lowercased, .text(value)) }
        return (name.lowercased, FieldList.unquoted(value).map(Argument.text) ?? .invalid)
    }

    /// The words of a malformed member in lower case, without those of quoted strings that end.
    private static func words(_ member: Octets) -> [Octets] {
        var words: [[UInt8]] = [[]]
        var position = 0
        while position < member.count {
            let byte = member[position]
            position += 1
            if ASCII.isTokenCharacter(byte) {
                words[words.count - 1].append(byte)
            } else {
                words.append([])
                if byte == ASCII.quote { position = FieldList.quotedEnd(member, from: position) ?? position }
            }
        }
        return words.filter { !$0.isEmpty }.map { Octets($0).lowercased }
    }

    /// The arguments of the directives of a name, in order.
    func arguments(_ name: StaticString) -> [Argument] {
        directives.filter { directive in directive.name.withSpan { $0.equals(name) } }.map(\.argument)
    }

    /// Whether there is a directive of that name, whatever its argument.
    func has(_ name: StaticString) -> Bool { directives.contains { $0.name.withSpan { $0.equals(name) } } }

    /// Whether there is a directive of that name, which restricts, or a malformed member with that word.
    func restricts(_ name: StaticString) -> Bool {
        has(name) || words.contains { word in word.withSpan { $0.equals(name) } }
    }

    /// Whether there is a directive of that name without an argument.
    func hasPlain(_ name: StaticString) -> Bool { arguments(name).contains(.none) }

    /// The seconds of a directive.
    ///
    /// Section 4.2.1: If there is more than one value, the response should be considered stale, or else the first value
    /// used. A value that is no number is encouraged to be considered stale. So both are ``Seconds/invalid`` here.
    func seconds(_ name: StaticString) -> Seconds {
        var found = Seconds.absent
        for argument in arguments(name) {
            let number: Int64? = if case .text(let text) = argument { DeltaSeconds.parse(text) } else { nil }
            let value = number.map(Seconds.value) ?? .invalid
            guard found == .absent || found == value else { return .invalid }
            found = value
        }
        return found
    }
}

/// The seconds that a message gives for something.
enum Seconds: Sendable, Hashable {
    /// None are given.
    case absent
    /// They are not a number, or contradict each other.
    case invalid
    /// A number of seconds.
    case value(Int64)

    /// The number, if there is one.
    var value: Int64? { if case .value(let seconds) = self { seconds } else { nil } }
}

/// The directives of a response that a private cache follows (RFC 9111, section 5.2.2; RFC 5861; RFC 8246).
///
/// A directive that restricts counts with any argument and in a malformed member. An argument that it does not have makes
/// a directive that permits void.
struct ResponseDirectives: Sendable, Hashable {
    /// no-store. Whether it counts depends on the status: ``forbidsStoring(_:)``.
    let hasNoStore: Bool
    /// no-cache without names
    let needsValidation: Bool
    /// no-cache with names: the fields, in lower case, that may not be reused without validation.
    let unvalidatedFields: [Octets]
    /// private, with or without names
    let isPrivate: Bool
    /// public
    let isPublic: Bool
    /// must-revalidate
    let forbidsStale: Bool
    /// proxy-revalidate or s-maxage, which forbid shared caches what must-revalidate forbids all.
    let forbidsStaleIfShared: Bool
    /// must-understand
    let needsUnderstanding: Bool
    /// RFC 8246: immutable
    let isImmutable: Bool
    /// max-age
    let maximumAge: Seconds
    /// RFC 5861, section 3: stale-while-revalidate
    let staleWhileRevalidating: Int64?
    /// RFC 5861, section 4: stale-if-error
    let staleIfError: Int64?

    /// Reads the directives of a response.
    init(_ fields: MessageFields) {
        let directives = CacheDirectives(fields)
        let names = directives.arguments("no-cache").map(Self.names)
        hasNoStore = directives.restricts("no-store")
        needsValidation = names.contains(nil) || !directives.has("no-cache") && directives.restricts("no-cache")
        unvalidatedFields = names.compactMap { $0 }.flatMap { $0 }
        isPrivate = directives.has("private")
        isPublic = directives.hasPlain("public")
        forbidsStale = directives.restricts("must-revalidate")
        forbidsStaleIfShared = directives.restricts("proxy-revalidate") || directives.restricts("s-maxage")
        needsUnderstanding = directives.has("must-understand")
        isImmutable = directives.hasPlain("immutable")
        maximumAge = directives.seconds("max-age")
        staleWhileRevalidating = directives.seconds("stale-while-revalidate").value
        staleIfError = directives.seconds("stale-if-error").value
    }

    /// The names in an argument of no-cache; `nil` if it has none or is not a list of names, so that the directive counts
    /// for the whole response.
    private static func names(_ argument: CacheDirectives.Argument) -> [Octets]? {
        guard case .text(let text) = argument else { return nil }
        let names = FieldList.members([text])
        return !names.isEmpty && names.allSatisfy(FieldList.isToken) ? names.map(\.lowercased) : nil
    }
}

/// The directives of a request (RFC 9111, section 5.2.1; RFC 5861, section 4). They are advisory.
struct RequestDirectives: Sendable {
    /// How stale a response may be.
    enum Staleness: Sendable, Hashable {
        /// Not at all.
        case none
        /// At most so many seconds.
        case seconds(Int64)
        /// Any age will do.
        case any
    }

    /// no-cache, or `Pragma: no-cache` without Cache-Control
    let needsValidation: Bool
    /// no-store
    let forbidsStoring: Bool
    /// only-if-cached
    let forbidsForwarding: Bool
    /// max-age; 0 if it is invalid.
    let maximumAge: Int64?
    /// min-fresh
    let minimumFreshness: Int64?
    /// max-stale
    let allowedStaleness: Staleness
    /// stale-if-error
    let staleIfError: Int64?

    /// Those of a request without Cache-Control and Pragma, as most requests are.
    private static let none = RequestDirectives(reading: [:])

    /// Reads the directives of a request.
    init(_ fields: MessageFields) {
        self = fields.has("cache-control") || fields.has("pragma") ? RequestDirectives(reading: fields) : Self.none
    }

    private init(reading fields: MessageFields) {
        let directives = CacheDirectives(fields)
        // Section 5.4: Pragma was defined for HTTP/1.0 clients, which send no Cache-Control.
        let hasPragma =
            !fields.has("cache-control")
            && FieldList.members(fields.values("pragma")).contains { $0.lowercased == "no-cache" }
        needsValidation = directives.restricts("no-cache") || hasPragma
        forbidsStoring = directives.restricts("no-store")
        forbidsForwarding = directives.has("only-if-cached")
        maximumAge =
            switch directives.seconds("max-age") {
            case .absent: nil
            case .invalid: 0
            case .value(let seconds): seconds
            }
        minimumFreshness = directives.seconds("min-fresh").value
        staleIfError = directives.seconds("stale-if-error").value
        if directives.hasPlain("max-stale") {
            allowedStaleness = .any
        } else {
            allowedStaleness = directives.seconds("max-stale").value.map(Staleness.seconds) ?? .none
        }
    }
}
