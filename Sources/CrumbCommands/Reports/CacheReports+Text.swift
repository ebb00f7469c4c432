import SessionOperations

extension CachedResponseDetails {
    /// The lines for a person.
    ///
    /// - Parameter request: The label of the decision on the request.
    func properties(request: String = "next GET") -> [(String, String)] {
        var lines = [
            ("url", response.shownURL), ("status", "\(response.status)"), ("octets", "\(response.octets)"),
            ("audience", shownAudience), ("stored", response.stored),
            ("last used", response.used),
            ("freshness", "\(response.freshness); age \(age) s, lifetime \(lifetime) s (\(lifetimeSource))"),
            (request, "\(answer), by rule '\(rule)'"),
        ]
        lines += reasons.map { ("because", $0.explanation) }
        lines += fields.map { ($0.name, $0.value ?? "(not shown)") }
        return lines
    }
}

extension CacheExplanationReport {
    /// The lines for a person: the decision first, then each stored response.
    var properties: [(String, String)] {
        let number = response.map { "; stored response \($0)" } ?? ""
        var lines = [("request", "\(method) \(url)")]
        if let package { lines.append(("answer", "\(package) answers before the cache")) }
        lines += [
            (package == nil ? "answer" : "without packages", "\(answer)\(number)"),
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
