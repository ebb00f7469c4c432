/// How a connection reached the service.
struct WayIn: Sendable {
    /// What it is called in logs: `socket`, or `tcp`.
    let name: String
    /// Whether whoever comes this way is the owner, as nobody else can.
    let isOwners: Bool
    /// Whether it is encrypted.
    let isEncrypted: Bool
    /// The names that requests may be for; `nil` for any.
    let hosts: HostRule?
    /// Where the service's own pages are from for browsers that come by a proxy; `nil` where they are from the address
    /// that is listened on.
    var publicOrigin: String?

    /// A Unix-domain socket, which its file's mode protects.
    static let socket = WayIn(name: "socket", isOwners: true, isEncrypted: false, hosts: nil)
}
