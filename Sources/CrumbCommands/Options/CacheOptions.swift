import ArgumentParser
import CookieModel
import GatewayModel
import HTTPCaching
import HTTPTypes
import SessionOperations

/// The cache of a gateway.
struct CacheOptions: ParsableArguments {
    @Option(
        help: .value(
            "size",
            "Keep responses in the user's folder for caches, up to this size, such as 500M, and answer requests from them "
                + "where HTTP and --rules allow it."))
    var cache: CacheSize?

    @Option(help: .file("Read rules for the cache from this file, one on a line: 'keep https://shop.example/fonts/'."))
    var rules: String?

    func validate() throws {
        guard rules == nil || cache != nil else {
            throw ValidationError("--rules: these are for a cache; use one with --cache SIZE.")
        }
    }

    /// The table of --rules; `nil` if none is given.
    func table() throws -> CachingRulesFile? {
        try rules.map { try CachingRulesFile($0) }
    }
}

/// A file with rules for the cache.
struct CachingRulesFile {
    /// The longest table, in octets.
    private static let limit = 1 << 20

    let rules: CachingRules
    /// Its lines, for a service.
    let lines: [String]

    /// - Throws: an error with the status of a gateway that cannot start if a line is not a rule.
    init(_ path: String) throws {
        let table = String(decoding: try InputFile(path).contents(limit: CachingRulesFile.limit), as: UTF8.self)
        do throws(CachingRulesError) {
            rules = try CachingRules(table: table)
        } catch {
            throw CommandFailure(.gatewayNotStarted, "--rules \(path): \(error.description)")
        }
        lines = table.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}

/// The size of a cache: a number of octets, or one with K, M or G.
struct CacheSize: ExpressibleByArgument {
    let octets: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let unit = argument.last.flatMap { units[Character($0.uppercased())] }
        guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number > 0 else { return nil }
        let (octets, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.octets = octets
    }
}

/// What the cache is asked about, besides the request's context.
struct CacheQuestionOptions: ParsableArguments {
    @Option(help: .file("With --cache: the rules of the gateway, in a file as for 'crumb gateway run --rules'."))
    var rules: String?

    @Option(
        help: .value(
            "field",
            "With --cache: a field of the request, such as 'Accept-Language: de'. Others that a stored response depends on "
                + "count as those of the request that it has answered. Repeatable."))
    var field: [String] = []

    @Flag(help: "With --cache: explain the answer of a gateway with --offline.")
    var offline = false

    @Option(
        help:
            "With --cache: what sends the request, 'browser' or 'tool'. What is stored for the other does not answer it."
    )
    var client: GatewaySettings.Client?

    /// Whether any option is given.
    var isGiven: Bool { rules != nil || !field.isEmpty || offline || client != nil }

    /// The question about a request.
    func document(for request: RequestContext) throws -> ExplainCacheDocument {
        let headers = try field.map { text in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, HTTPField.Name(String(parts[0])) != nil else {
                throw ValidationError("--field '\(parts.first ?? "")': write a field such as 'Accept-Language: de'.")
            }
            let value = Octets(String(parts[1])).trimmingBlanks
            switch parts[0].lowercased() {
            case "cookie":
                throw ValidationError("--field Cookie: leave it out. The jar decides which cookies are sent.")
            case "crumb-cache-policy" where RequestCachePolicy(rawValue: value.description) == nil:
                throw ValidationError("--field Crumb-Cache-Policy: \(RequestCachePolicy.hint).")
            default: return HeaderFieldDocument(name: String(parts[0]), value: value)
            }
        }
        return ExplainCacheDocument(
            url: request.url.description, RequestDetails(request), headers: headers.isEmpty ? nil : headers,
            rules: try rules.map { try CachingRulesFile($0).lines },
            offline: offline ? true : nil, verdict: request.verdict.map { EngineVerdictDocument($0) },
            client: client?.rawValue)
    }
}
