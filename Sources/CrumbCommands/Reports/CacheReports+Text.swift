import SessionOperations

extension CachedResponseReport {
    /// The URL for a person: a query that is left out is marked.
    var shownURL: String { hasQuery == true ? "\(url)?…" : url }

    /// How fresh it is, for a person.
    var freshness: String {
        switch state {
        case "fresh": "\(timeToLive) s left"
        case "stale": "stale for \(-timeToLive) s"
        default: state
        }
    }
}

extension CachedResponseDetails {
    /// The lines for a person.
    ///
    /// - Parameter request: The label of the decision on the request.
    func properties(request: String = "next GET") -> [(String, String)] {
        var lines = [
            ("url", response.shownURL), ("status", "\(response.status)"), ("octets", "\(response.octets)"),
            ("audience", "\(audience)"), ("stored", response.stored), ("last used", response.used),
            ("freshness", "\(response.freshness); age \(age) s, lifetime \(lifetime) s (\(lifetimeSource))"),
            (request, "\(CachedResponseDetails.sentence(of: outcome)), by rule '\(rule)'"),
        ]
        lines += reasons.map { ("because", $0.explanation) }
        lines += fields.map { ($0.name, $0.value ?? "(not shown)") }
        return lines
    }

    /// What happens with a request.
    fileprivate static func sentence(of outcome: String) -> String {
        switch outcome {
        case "hit": "answered from the cache"
        case "hit-then-validate": "answered from the cache, and the server is asked afterwards"
        case "validate": "the server is asked whether the response is still valid"
        case "complete": "the server is asked for the missing part"
        case "unavailable": "status 504: nothing may be sent"
        default: "sent to the server"
        }
    }
}

extension CacheExplanationReport {
    /// The lines for a person: the decision first, then each stored response.
    var properties: [(String, String)] {
        let number = response.map { "; stored response \($0)" } ?? ""
        var lines = [
            ("request", "\(method) \(url)"),
            ("answer", "\(CachedResponseDetails.sentence(of: outcome))\(number)"),
            ("rule", rule), ("treatment", treatment),
        ]
        lines += reasons.map { ("because", $0.explanation) }
        lines.append(("stored responses", "\(responses.count)"))
        for (index, details) in responses.enumerated() {
            lines += details.properties(request: "this request").map { ("\(index + 1) \($0)", $1) }
        }
        return lines
    }
}
