import HTTPTypes
import Hummingbird

/// The cookie of a session with the inspector: for its own pages alone, and not for scripts.
struct InspectorCookie {
    private static let plainName = "crumb-inspector"
    private static let secureName = "__Host-crumb-inspector"
    /// With a path of its own, a cookie cannot have the prefix `__Host-`.
    private static let securePathName = "__Secure-crumb-inspector"

    private let isEncrypted: Bool
    /// The prefix of all paths, behind a proxy.
    private let base: String

    /// The cookie as the answer to a form sets it. Browsers say where a form is from, which was checked when the request
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
