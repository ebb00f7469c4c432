import CookieModel
import OAuth2
import SessionOperations
import SessionWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How far a login has come, as it is stored.
enum LoginStage: Codable {
    /// The user confirms on another device.
    case confirming
    /// The user logs in in a browser.
    case visiting(ExposedBrowserVisit)
    /// The browser has come back.
    case ending(Ending)
    case done
    case failed(ProblemReport)

    /// An attempt to end a login with a redirect.
    struct Ending: Codable {
        /// The digest of the redirect.
        let redirect: [UInt8]
        let attempt: UUID
        private var heldUntilMicroseconds: Int64?

        init(redirect: [UInt8], attempt: UUID, heldUntil: Timestamp?) {
            self.redirect = redirect
            self.attempt = attempt
            heldUntilMicroseconds = heldUntil?.microseconds
        }

        /// When the attempt counts as lost; `nil` for never.
        var heldUntil: Timestamp? {
            get { heldUntilMicroseconds.map(Timestamp.init(microseconds:)) }
            set { heldUntilMicroseconds = newValue?.microseconds }
        }
    }

    /// Whether nothing follows.
    var isOver: Bool {
        switch self {
        case .confirming, .visiting, .ending: false
        case .done, .failed: true
        }
    }

    /// The attempt that ends the login.
    var attempt: LoginRegistry.Attempt? {
        switch self {
        case .confirming: .polling
        case .ending(let ending): LoginRegistry.Attempt(name: ending.attempt)
        case .visiting, .done, .failed: nil
        }
    }

    /// Whether the attempt that was to end the login has not done so in time.
    func isLost(_ now: Timestamp) -> Bool {
        guard case .ending(let ending) = self, let end = ending.heldUntil else { return false }
        return end < now
    }
}

/// What is stored of a login, to be sealed.
struct LoginContent: Codable {
    let name: String
    var stage: LoginStage

    init(name: String, stage: LoginStage) {
        self.name = name
        self.stage = stage
    }

    init?(_ stored: Secret) {
        let octets = Data(stored.exposedBytes)
        guard let content = try? JSONDecoder().decode(LoginContent.self, from: octets) else { return nil }
        self = content
    }

    func encoded() throws -> Secret { Secret(try JSONEncoder().encode(self)) }
}
