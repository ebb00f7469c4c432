extension CookiePolicy {
    /// Retrieves cookies that a store keeps sealed (section 5.8.3).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order, with sealed values.
    ///   - open: gives the value of a cookie that would go; `nil` where it cannot be read, and the cookie stays as
    ///     ``ExclusionReason/unreadable``. Cookies that stay are left without a value.
    package func retrieval(
        from cookies: [Cookie], for context: RequestContext, now: Timestamp, opening open: (Cookie) -> Octets?
    ) -> Retrieval {
        let rules = RetrievalRules(context, self, now: now)
        var retrieval = Retrieval()
        var room = RequestRoom(limits)
        for var cookie in cookies.sorted(by: { $0.precedes($1) }) {
            var reasons = rules.exclusionReasons(for: cookie)
            let value = reasons.isEmpty ? open(cookie) : nil
            cookie.value = value ?? []
            if reasons.isEmpty {
                if value == nil {
                    reasons.insert(.unreadable)
                } else if !room.takes(cookie.pair.count) {
                    cookie.value = []
                    reasons.insert(.requestLimit)
                }
            }
            if reasons.isEmpty {
                retrieval.included.append(cookie)
            } else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: cookie, reasons: reasons))
            }
        }
        return retrieval
    }

    /// The cookie-string alone: what ``retrieval(from:for:now:opening:)`` gives, for those who do not ask why; notes the
    /// access in `cookies`.
    package func cookieString(
        from cookies: inout [Cookie], for context: RequestContext, now: Timestamp, _ accesses: inout AccessNotes,
        opening open: (Cookie) -> Octets?
    ) -> Octets {
        let rules = RetrievalRules(context, self, now: now)
        var room = RequestRoom(limits)
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        var noted: [Int] = []
        do {
            // Read where they lie: a copy of a cookie is many references.
            let span = cookies.span
            var places = span.indices.filter { rules.exclusionReasons(for: span[$0]).isEmpty }
            places.sort { span[$0].precedes(span[$1]) }
            for place in places {
                let name = span[place].name
                guard let value = open(span[place]), room.takes(value.count + (name.isEmpty ? 0 : name.count + 1))
                else { continue }
                if !output.isEmpty { output += [ASCII.semicolon, ASCII.space] }
                if !name.isEmpty {
                    output.append(name)
                    output.append(ASCII.equals)
                }
                output.append(value)
                if accesses.note(span[place]) { noted.append(place) }
            }
        }
        for place in noted { cookies[place].lastAccess = now }
        return Octets(output)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ octets: Octets) {
        octets.withSpan { span in span.withUnsafeBytes { append(contentsOf: $0) } }
    }
}
