import Synchronization

/// Where the browser comes back to after a login: `/v1/logins/callback` of this service, as a browser reaches it.
///
/// It is known once the service listens: a port may be any that is free.
final class LoginCallback: Sendable {
    static let path = "/v1/logins/callback"

    private let value: Mutex<String?>

    init(_ url: String?) {
        value = Mutex(url)
    }

    /// `nil` where no browser can come back to this service.
    var url: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
