import CookieModel

extension Explanation {
    /// What becomes of the cookies, in one sentence for a person.
    package var verdict: String {
        let isScript = context.interface == .script
        let place = "jar '\(Octets(jar))'"
        if count == 0 {
            let consequence = isScript ? "scripts of \(context.url) see none" : "none goes to \(context.url)"
            return "\(place) has no cookie of \(site): \(consequence)"
        }
        let verb =
            switch (isScript, sent.count == 1) {
            case (false, true): "goes to"
            case (false, false): "go to"
            case (true, true): "is visible to scripts of"
            case (true, false): "are visible to scripts of"
            }
        let cookies = "\(count) \(count == 1 ? "cookie" : "cookies") of \(site) in \(place)"
        return "\(sent.count) of \(cookies) \(verb) \(context.url)"
    }
}
