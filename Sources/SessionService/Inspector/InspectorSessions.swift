import CookieModel
import Crypto
import Foundation
import Synchronization

/// Who is signed in to the inspector: sessions in memory, each as good as the access token that began it.
///
/// The token is looked at again with each request, so that revoking it ends the session.
final class InspectorSessions: Sendable {
    /// How long a session lasts.
    static let lifetime: Int64 = 12 * 3600
    /// The most there are at once; the oldest has to go.
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
        let identifier = Data(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
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

    /// The access token that the session began with; `nil` where there is no such session.
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
        SHA256.hash(data: Data(identifier.utf8))
    }
}
