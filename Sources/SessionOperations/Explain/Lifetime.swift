package import CookieModel

/// When a cookie ends, for a person: from now on, and by the calendar.
package struct Lifetime: CustomStringConvertible {
    package let description: String

    package init(of cookie: Cookie, at now: Timestamp) {
        self.init(until: cookie.expiry, at: now)
    }

    /// The lifetime of a cookie that a report says the end of.
    package init(of cookie: CookieReport, at now: Timestamp) {
        guard let text = cookie.expires, let expiry = Timestamp(rfc3339: text.utf8) else {
            self.init(until: nil, at: now)
            return
        }
        // How RFC 3339 writes the end of the range.
        self.init(until: text == Timestamp.distantPast.rfc3339 ? .distantPast : expiry, at: now)
    }

    private init(until expiry: Timestamp?, at now: Timestamp) {
        guard let expiry else {
            description = "with the session"
            return
        }
        // What `Max-Age=0` says.
        guard expiry > .distantPast else {
            description = "over at once"
            return
        }
        let moment = Timestamp(seconds: expiry.seconds).rfc3339
        let (distance, overflow) = expiry.seconds.subtractingReportingOverflow(now.seconds)
        let span = Lifetime.span(overflow ? .max : distance.magnitude)
        description = expiry < now ? "ended \(span) ago, \(moment)" : "in \(span), \(moment)"
    }

    /// A moment in the past, for a person: how long ago, and by the calendar.
    package static func past(_ moment: Timestamp, at now: Timestamp) -> String {
        let text = Timestamp(seconds: moment.seconds).rfc3339
        // A clock that was set back says nothing of how long ago it was.
        guard moment <= now else { return text }
        let (distance, overflow) = now.seconds.subtractingReportingOverflow(moment.seconds)
        return "\(span(overflow ? .max : distance.magnitude)) ago, \(text)"
    }

    /// The largest unit of which there are two or more.
    private static func span(_ seconds: UInt64) -> String {
        for (unit, length) in [("days", 86_400), ("hours", 3_600), ("minutes", 60)] as [(String, UInt64)]
        where seconds >= 2 * length {
            return "\(seconds / length) \(unit)"
        }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}
