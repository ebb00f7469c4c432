import CookieModel

/// The URL of the response at hand: the one that was given or recorded, or where a redirect led.
struct TranscriptURL: Sendable {
    var text: String?
    var origin: CapturedResponse.URLOrigin

    /// Moves to the URL of the response that may come next; false where none may.
    mutating func follow(_ sequel: CapturedHead.Sequel) -> Bool {
        switch sequel {
        case .none:
            return false
        case .sameURL:
            return true
        case .location(let reference):
            guard let text, let base = try? RequestURL(text), let next = try? base.resolving(reference) else {
                return false
            }
            self.text = next.description
            origin = .redirect
            return true
        }
    }
}
