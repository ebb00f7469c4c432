import CookieModel
import Crypto
import HTTPTypes
import Hummingbird
import Synchronization
import WebPrimitives

/// The sessions of the inspector, in memory. Each has the rights of the access token that began it.
///
/// The token is checked again with each request, so that revoking it ends the session.
final class InspectorSessions: Sendable {
    /// How long a session lasts.
    static let lifetime: Int64 = 12 * 3600
    /// The maximum number; beyond it, the oldest is removed.
    private static let limit = 1_000

    private struct Session {
        let token: String
        let end: Timestamp
    }

    /// By the digest of the session's identifier, so that no comparison tells anything of the identifier itself.
    private let sessions = Mutex<[SHA256.Digest: Session]>([:])

    /// Begins a session.
    ///
    /// - Returns: its identifier, for the browser alone.
    func begin(with token: String, now: Timestamp) -> String {
        let identifier = SymmetricKey(size: .bits256).withUnsafeBytes { Base64.textForURL($0) }
        let session = Session(token: token, end: now.advanced(bySeconds: InspectorSessions.lifetime))
        sessions.withLock { sessions in
            sessions = sessions.filter { $0.value.end > now }
            if sessions.count >= InspectorSessions.limit,
                let oldest = sessions.min(by: { $0.value.end < $1.value.end })
            {
                sessions[oldest.key] = nil
            }
            sessions[InspectorSessions.digest(identifier)] = session
        }
        return identifier
    }

    /// The access token that the session began with; `nil` if there is no such session.
    func token(of identifier: String, now: Timestamp) -> String? {
        sessions.withLock { sessions in
            guard let session = sessions[InspectorSessions.digest(identifier)], session.end > now else { return nil }
            return session.token
        }
    }

    func end(_ identifier: String) {
        sessions.withLock { $0[InspectorSessions.digest(identifier)] = nil }
    }

    private static func digest(_ identifier: String) -> SHA256.Digest {
        SHA256.hash(data: Array(identifier.utf8))
    }
}

/// The cookie of a session with the inspector: for its own pages alone, and not for scripts.
struct InspectorCookie {
    private static let plainName = "crumb-inspector"
    private static let secureName = "__Host-crumb-inspector"
    /// With a path of its own, a cookie cannot have the prefix `__Host-`.
    private static let securePathName = "__Secure-crumb-inspector"

    private let isEncrypted: Bool
    /// The prefix of all paths, behind a proxy.
    private let base: String

    /// The cookie as the answer to a form sets it. Browsers state the origin of a form, which was checked when the request
    /// was admitted.
    ///
    /// - Parameter base: the prefix of all paths, behind a proxy: empty, or as in `/crumb`.
    init(for request: Request, base: String = "") {
        self.base = base
        isEncrypted = request.headers[.origin]?.hasPrefix("https:") == true
    }

    /// The Set-Cookie line that gives it to the browser.
    func setting(_ identifier: String) -> String {
        "\(pair(identifier)); Max-Age=\(InspectorSessions.lifetime)\(attributes)"
    }

    /// The Set-Cookie line that takes it away.
    var removing: String { "\(pair("")); Max-Age=0\(attributes)" }

    /// The session that a request is of.
    static func identifier(in fields: HTTPFields) -> String? {
        for field in fields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                let name = parts.first?.drop { $0 == " " } ?? ""
                guard parts.count == 2, [secureName, securePathName, plainName].contains(String(name)) else { continue }
                return String(parts[1])
            }
        }
        return nil
    }

    private func pair(_ value: String) -> String {
        let secureName = base.isEmpty ? InspectorCookie.secureName : InspectorCookie.securePathName
        return "\(isEncrypted ? secureName : InspectorCookie.plainName)=\(value)"
    }

    private var attributes: String {
        "; Path=\(base.isEmpty ? "/" : base); HttpOnly; SameSite=Strict\(isEncrypted ? "; Secure" : "")"
    }
}
