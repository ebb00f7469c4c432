import CookieModel

extension ExplanationReport {
    /// How many cookies are in question.
    package var count: Int { included.count + excluded.count }

    /// What becomes of the cookies, in one sentence for a person.
    ///
    /// - Parameter isScript: whether it is about what a script sees.
    package func verdict(isScript: Bool) -> String {
        let place = "jar '\(Octets(jar))'"
        if count == 0 {
            let consequence = isScript ? "scripts of \(url) see none" : "none goes to \(url)"
            return "\(place) has no cookie of \(site): \(consequence)"
        }
        let verb =
            switch (isScript, included.count == 1) {
            case (false, true): "goes to"
            case (false, false): "go to"
            case (true, true): "is visible to scripts of"
            case (true, false): "are visible to scripts of"
            }
        let cookies = "\(count) \(count == 1 ? "cookie" : "cookies") of \(site) in \(place)"
        return "\(included.count) of \(cookies) \(verb) \(url)"
    }
}
