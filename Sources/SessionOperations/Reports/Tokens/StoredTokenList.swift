package import CookieModel
package import SessionStore

/// The tokens that are kept, in JSON, without the tokens.
package struct StoredTokenList: Codable {
    package private(set) var tokens: [StoredTokenReport] = []
    /// How many are kept that cannot be read back.
    package private(set) var unreadable = 0
    /// What is wrong with each of those; only where there are any.
    package private(set) var problems: [String]?

    /// No tokens.
    package init() {}

    package init(_ all: [Result<StoredToken, SessionStoreError>], now: Timestamp) {
        for result in all {
            switch result {
            case .success(let stored): tokens.append(StoredTokenReport(stored, now: now))
            case .failure(let error):
                unreadable += 1
                problems = (problems ?? []) + [error.description]
            }
        }
    }
}
