/// Parts, conditions, failures and HEAD, written down as they stand.
extension TwinCache {
    // MARK: - 3.3 Incomplete responses

    /// `Content-Range: bytes first-last/complete-length`, where the length may be `*`.
    static func part(_ response: TwinMessage) -> ClosedRange<Int>? {
        guard let value = response.joined("content-range"), value.hasPrefix("bytes ") else { return nil }
        let numbers = value.dropFirst(6).split { $0 == "-" || $0 == "/" }.map { Int($0) }
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1], first <= last else { return nil }
        return first...last
    }

    /// `Range: bytes=first-last`; `nil` if it is absent or of another form.
    private static func range(_ request: TwinMessage) -> ClosedRange<Int>? {
        let numbers = (request.joined("range") ?? "").dropFirst(6).split(
            separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let first = Int(numbers[0]), let last = Int(numbers[1]) else { return nil }
        return first...last
    }

    /// "the request is partial and specifies a range wholly within the incomplete response"
    static func isUsable(_ response: TwinMessage, for request: TwinMessage) -> Bool {
        guard response.status == 206, let part = part(response) else { return true }
        guard request.method == "GET", let range = range(request) else { return false }
        return part.contains(range.lowerBound) && part.contains(range.upperBound)
    }

    /// The part is the beginning, and has a strong validator.
    static func isCompletable(_ response: TwinMessage) -> Bool {
        guard response.status == 206, part(response)?.lowerBound == 0 else { return false }
        switch response.values("etag") {
        case ["\"a\""]: return true
        case ["W/\"a\""]: return false
        default: return date(response, "last-modified").map { dateValue(response) - $0 >= 60 } ?? false
        }
    }

    // MARK: - 4.3.2 Received conditions

    /// The status of the answer that a stored response gives, whose body has four octets.
    static func status(_ response: TwinMessage, for request: TwinMessage) -> Int {
        guard response.status == 200 || response.status == 206 else { return response.status }
        if let tags = request.joined("if-none-match") {
            let tag = response.values("etag").first ?? ""
            let isTag = tag.hasSuffix("\"") && !tag.contains(" ")
            if tags == "*" || isTag && tags.contains("\"a\"") { return 304 }
        }
        guard request.method == "GET", let value = request.joined("range"), !value.contains(",") else { return 200 }
        if response.status == 206 { return 206 }
        return value == "bytes=4-" ? 416 : 206
    }

    // MARK: - 4.2.4 Serving stale responses

    /// Whether a stored response answers for a server that fails, by a policy that permits it if the server is out of reach.
    static func answersFailure(_ entry: Entry, _ request: TwinMessage, now: Int, isOutOfReach: Bool) -> Bool {
        let response = entry.response
        if entry.isInvalid || needsValidation(response) || !isUsable(response, for: request) { return false }
        let (lifetime, age) = (lifetime(response), age(response, now: now))
        if lifetime <= age, has(response, "must-revalidate") { return false }
        // RFC 5861, section 4: "upon encountering an error, a cached stale response MAY be used to satisfy the request,
        // regardless of other freshness information"
        func permits(_ message: TwinMessage) -> Bool {
            (seconds(message, "stale-if-error") ?? nil).map { age - lifetime <= $0 } ?? false
        }
        if permits(request) { return true }
        if has(request, "no-cache") { return false }
        if request.values("cache-control").isEmpty, request.values("pragma").contains("no-cache") { return false }
        if let maximum = seconds(request, "max-age").map({ $0 ?? 0 }) {
            let accepted = hasPlain(request, "max-stale") || (seconds(request, "max-stale") ?? nil) != nil
            if maximum == 0 || age > maximum || lifetime <= age && !accepted { return false }
        }
        if lifetime > age || permits(response) { return true }
        return isOutOfReach && !has(response, "proxy-revalidate") && !has(response, "s-maxage")
    }

    // MARK: - 4.3.5 HEAD

    /// What becomes of a stored response, whose body has four octets.
    static func head(_ response: TwinMessage, _ entry: Entry) -> String {
        let stored = entry.response
        for name in ["etag", "last-modified"] where !response.values(name).isEmpty {
            if response.values(name) != stored.values(name) { return "invalid" }
        }
        if let length = response.joined("content-length"), length != "4" { return "invalid" }
        if has(response, "no-store"), !has(response, "must-understand") { return "invalid" }
        let isStrong = response.values("etag") == ["\"a\""]
        return entry.isInvalid && !isStrong ? "invalid" : "updated"
    }
}
