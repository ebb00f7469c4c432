import HTTPTypes
import NIOCore

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
    /// The IP addresses of proxies, which tell whom they ask for.
    var proxies: Set<String> = []

    /// A Unix-domain socket, which its file's mode protects.
    static let socket = WayIn(name: "socket", isOwners: true, isEncrypted: false, hosts: nil)

    /// Who sends a request: an IP address, or the name of the way in.
    ///
    /// For a proxy's connection that is the last address of `X-Forwarded-For` that no proxy of ours has: what stands
    /// before it, the client itself may have sent.
    func peer(of request: HTTPRequest, on channel: any Channel) -> String {
        let peer = channel.remoteAddress?.ipAddress ?? name
        guard proxies.contains(peer), let field = HTTPField.Name("X-Forwarded-For") else { return peer }
        let hops = request.headerFields[values: field].flatMap { $0.split(separator: ",") }.map {
            String($0.drop { $0 == " " }.prefix { $0 != " " })
        }
        guard let client = hops.last(where: { !proxies.contains($0) }),
            let address = try? SocketAddress(ipAddress: client, port: 0).ipAddress
        else { return peer }
        return address
    }
}
