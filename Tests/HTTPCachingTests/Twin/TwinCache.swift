import WebPrimitives

/// RFC 9111 for a private cache, written down as it stands.
enum TwinCache {
    // MARK: - 5.2 Cache-Control

    /// `cache-directive = token [ "=" ( token / quoted-string ) ]`: the arguments of a directive. `""` for none, `nil` for
    /// one that is not of this form.
    static func arguments(_ message: TwinMessage, _ name: String) -> [String?] {
        members(message.values("cache-control")).compactMap { member -> String?? in
            guard let equals = member.firstIndex(of: "=") else {
                return member.lowercased() == name ? .some("") : .none
            }
            let left = member[..<equals]
            guard left.trimmed.lowercased() == name else { return .none }
            if left.trimmed != left { return .some(nil) }
            let right = member[member.index(after: equals)...]
            if right.count >= 2, right.hasPrefix("\""), right.hasSuffix("\"") {
                let content = right.dropFirst().dropLast()
                return content.contains("\"") ? .some(nil) : .some("\"" + content)
            }
            let isToken =
                !right.isEmpty && right.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "'" }
            return isToken ? .some(String(right)) : .some(nil)
        }
    }

    /// The members of a list, whose quoted strings may have commas.
    private static func members(_ values: [String]) -> [String] {
        values.flatMap { value in
            var parts = [""]
            var isQuoted = false
            for character in value {
                if character == "\"" { isQuoted.toggle() }
                if character == ",", !isQuoted {
                    parts.append("")
                } else {
                    parts[parts.count - 1].append(character)
                }
            }
            return parts.map(\.trimmed).filter { !$0.isEmpty }
        }
    }

    static func has(_ message: TwinMessage, _ name: String) -> Bool { !arguments(message, name).isEmpty }
    static func hasPlain(_ message: TwinMessage, _ name: String) -> Bool {
        arguments(message, name).contains("")
    }

    /// A number of seconds: outer `nil` if there is none, inner `nil` if it is invalid.
    static func seconds(_ message: TwinMessage, _ name: String) -> Int?? {
        let values = arguments(message, name).map { argument -> Int? in
            guard let argument, argument != "" else { return nil }
            return number(argument.hasPrefix("\"") ? String(argument.dropFirst()) : argument)
        }
        guard let first = values.first else { return .none }
        return values.allSatisfy { $0 == first } ? .some(first) : .some(nil)
    }

    private static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.allSatisfy({ "0123456789".contains($0) }) else { return nil }
        return min(Int(text) ?? .max, 2_147_483_648)
    }

    static func needsValidation(_ response: TwinMessage) -> Bool {
        arguments(response, "no-cache").contains { argument in
            guard let argument, argument != "" else { return true }
            let names = argument.hasPrefix("\"") ? String(argument.dropFirst()) : argument
            return names.isEmpty || names.contains(" ")
        }
    }

    // MARK: - 3 Storing

    static func stores(_ response: TwinMessage, for request: TwinMessage) -> Bool {
        if request.method != "GET" { return false }
        if response.status < 200 { return false }
        if response.status == 206, part(response) == nil { return false }
        let understands = [200, 203, 204, 206, 301, 302, 403, 404, 410, 500].contains(response.status)
        if response.status == 206 || response.status == 304 || has(response, "must-understand"), !understands {
            return false
        }
        if has(response, "no-store"), !(has(response, "must-understand") && understands) { return false }
        if has(request, "no-store") { return false }
        // Not of the section: such a response could never be used.
        if names(response).contains("*") { return false }
        return hasPlain(response, "public") || has(response, "private") || !response.values("expires").isEmpty
            || has(response, "max-age") || heuristicStatuses.contains(response.status)
    }

    private static let heuristicStatuses = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    // MARK: - 4.2 Freshness

    /// A date of the form that the generator writes.
    static func date(_ message: TwinMessage, _ name: String) -> Int? {
        let values = message.values(name)
        guard values.count == 1, values[0].count == 29, values[0].hasSuffix("GMT") else { return nil }
        return CookieDate.parse(values[0]).map { Int($0.seconds) }
    }

    static let start = Int(Sample.start.seconds)

    static func dateValue(_ response: TwinMessage) -> Int { date(response, "date") ?? start + response.responseTime }

    static func lifetime(_ response: TwinMessage) -> Int {
        if let maximum = seconds(response, "max-age") { return maximum ?? 0 }
        if !response.values("expires").isEmpty {
            guard let expires = date(response, "expires") else { return 0 }
            return max(0, expires - dateValue(response))
        }
        let isAllowed =
            heuristicStatuses.contains(response.status) || hasPlain(response, "public") || has(response, "private")
        let isPragma = response.values("cache-control").isEmpty && !response.values("pragma").isEmpty
        guard isAllowed, !isPragma, let modified = date(response, "last-modified") else { return 0 }
        return max(0, dateValue(response) - modified) / 10
    }

    static func age(_ response: TwinMessage, now: Int) -> Int {
        let members = (response.joined("age") ?? "").split(separator: ",").map { String($0).trimmed }
        let ageValue = members.first.flatMap(number) ?? 0
        let apparentAge = max(0, start + response.responseTime - dateValue(response))
        let responseDelay = response.responseTime - response.requestTime
        let correctedAgeValue = ageValue + responseDelay
        let correctedInitialAge = max(apparentAge, correctedAgeValue)
        let residentTime = max(0, now - response.responseTime)
        return correctedInitialAge + residentTime
    }

    // MARK: - 4.1 Vary

    private static func names(_ response: TwinMessage) -> [String] {
        (response.joined("vary") ?? "").split(separator: ",").map { String($0).trimmed.lowercased() }.filter {
            !$0.isEmpty
        }
    }

    private static func matches(_ response: TwinMessage, _ original: TwinMessage, _ request: TwinMessage) -> Bool {
        names(response).allSatisfy { name in
            let (first, second) = (original.joined(name), request.joined(name))
            guard let first, let second else { return first == nil && second == nil }
            func normalized(_ value: String) -> String {
                let text = value.filter { $0 != " " }
                return name.hasPrefix("accept-") ? text.lowercased() : text
            }
            return normalized(first) == normalized(second)
        }
    }

    // MARK: - 4 Constructing responses

    struct Entry {
        let request: TwinMessage
        let response: TwinMessage
        /// Whether it was invalidated (section 4.4).
        var isInvalid = false
    }

    /// The stored responses with the target URI and the fields that Vary names.
    static func matching(_ request: TwinMessage, _ entries: [Entry]) -> [Int] {
        entries.indices.filter { index in
            entries[index].request.path == request.path
                && matches(entries[index].response, entries[index].request, request)
        }
    }

    /// The most recent one, and rather one with Vary.
    private static func mostRecent(_ indices: [Int], _ entries: [Entry]) -> Int? {
        var chosen: Int?
        for index in indices {
            guard let best = chosen else {
                chosen = index
                continue
            }
            let (old, new) = (entries[best].response, entries[index].response)
            let (oldRank, newRank) = (names(old).isEmpty ? 0 : 1, names(new).isEmpty ? 0 : 1)
            if (newRank, dateValue(new), new.responseTime) > (oldRank, dateValue(old), old.responseTime) {
                chosen = index
            }
        }
        return chosen
    }

    /// The outcome in one word, and the entry that was chosen.
    static func lookup(_ request: TwinMessage, _ entries: [Entry], now: Int) -> (word: String, chosen: Int?) {
        guard request.method == "GET" || request.method == "HEAD" else { return ("forward", nil) }
        let onlyStored = has(request, "only-if-cached")
        if !request.values("if-match").isEmpty { return (onlyStored ? "unavailable" : "forward", nil) }
        let matching = matching(request, entries)
        let chosen = mostRecent(matching.filter { isUsable(entries[$0].response, for: request) }, entries)
        guard let chosen else {
            if onlyStored { return ("unavailable", nil) }
            let completable = matching.filter { isCompletable(entries[$0].response) }
            let isPlain =
                request.method == "GET" && ["range", "if-none-match"].allSatisfy { request.values($0).isEmpty }
            guard isPlain, !has(request, "no-store"), let part = mostRecent(completable, entries)
            else { return ("forward", nil) }
            return ("complete", part)
        }
        let response = entries[chosen].response
        let (lifetime, age) = (lifetime(response), age(response, now: now))
        let isFresh = lifetime > age
        var mayUse = !needsValidation(response) && !entries[chosen].isInvalid
        let isPragma = request.values("cache-control").isEmpty && request.values("pragma").contains("no-cache")
        if has(request, "no-cache") || isPragma { mayUse = false }
        let maximum = seconds(request, "max-age").map { $0 ?? 0 }
        if let maximum, maximum > 0, age > maximum { mayUse = false }
        if maximum == 0, !(hasPlain(response, "immutable") && isFresh) { mayUse = false }
        if let minimum = seconds(request, "min-fresh") ?? nil, lifetime - age < minimum { mayUse = false }
        let isForbidden = has(response, "must-revalidate")
        let staleness = age - lifetime
        let accepted =
            hasPlain(request, "max-stale") || (seconds(request, "max-stale") ?? nil).map { staleness <= $0 } ?? false
        if mayUse, isFresh || accepted && !isForbidden { return ("hit", chosen) }
        let window = seconds(response, "stale-while-revalidate") ?? nil
        if mayUse, !isForbidden, maximum == nil, let window, staleness <= window {
            return ("hit-then-validate", chosen)
        }
        if onlyStored { return ("unavailable", chosen) }
        let tag = response.values("etag").first ?? ""
        let hasTag = tag.hasSuffix("\"") && !tag.contains(" ")
        let hasValidator = hasTag || date(response, "last-modified") != nil
        return (hasValidator && response.status != 206 ? "validate" : "forward", chosen)
    }
}

extension StringProtocol {
    /// The text without the blanks around it.
    fileprivate var trimmed: String {
        var text = Substring(self)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
