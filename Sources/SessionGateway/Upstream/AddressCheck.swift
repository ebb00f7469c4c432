import NIOCore
import WebPrimitives

/// Refuses connections to addresses that the gateway must not reach, under any name. Each address is checked just
/// before the connection is made.
final class AddressCheck: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    /// The error for an address that the gateway must not connect to.
    struct Prohibition: Error {}

    private let isProhibited: @Sendable (SocketAddress) -> Bool

    init(_ isProhibited: @escaping @Sendable (SocketAddress) -> Bool) {
        self.isProhibited = isProhibited
    }

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        guard !isProhibited(address) else {
            promise?.fail(Prohibition())
            return
        }
        context.connect(to: address, promise: promise)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

extension SocketAddress {
    /// The octets of the IP address, 4 or 16.
    var addressOctets: [UInt8] {
        ipAddress.flatMap { WebHost($0.contains(":") ? "[\($0)]" : $0) }?.addressOctets ?? []
    }

    /// Whether a connection to it leads to this machine itself: a loopback address, the address of all zeros, which
    /// operating systems treat as one, or an address that stands for one of these.
    var isThisMachine: Bool {
        WebHost.addresses(meantBy: addressOctets).contains { octets in
            octets.count == 4
                ? octets[0] == 127 || octets == [0, 0, 0, 0]
                : octets.dropLast().allSatisfy { $0 == 0 }
                    && octets.last.map { $0 < 2 } == true
        }
    }

    /// Whether it is one of this machine's loopback addresses, also as an IPv4 address in an IPv6 socket.
    var isLoopback: Bool {
        let octets = addressOctets
        let address = octets.starts(with: WebHost.mappedPrefix) ? Array(octets.suffix(4)) : octets
        return address.count == 4 ? address[0] == 127 : address == [UInt8](repeating: 0, count: 15) + [1]
    }
}

extension WebHost {
    /// The addresses at which clouds give credentials to any program on a machine, in addition to `169.254.0.0/16`.
    private static let metadataServices: [[UInt8]] = [
        // Alibaba Cloud.
        "100.100.100.200", "[fd00:100::100:200]",
        // Amazon EC2, and EKS Pod Identity: docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
        "[fd00:ec2::254]", "[fd00:ec2::23]",
        // Akamai (Linode).
        "[fd00:a9fe:a9fe::1]",
        // Azure's wire server.
        "168.63.129.16",
        // Google Cloud.
        "[fd20:ce::254]",
        // OpenStack.
        "[fe80::a9fe:a9fe]",
        // Oracle Cloud, and its classic one.
        "[fd00:c1::a9fe:a9fe]", "192.0.0.192",
        // Scaleway: docs.cloud-init.io/en/latest/reference/datasources/scaleway.html
        "[fd00:42::42]",
    ].compactMap { WebHost($0)?.addressOctets }

    /// Whether the gateway may connect to an address. A name has to be resolved first.
    static func isReachable(_ address: [UInt8]) -> Bool {
        !addresses(meantBy: address).contains { $0.starts(with: [169, 254]) || metadataServices.contains($0) }
    }

    /// `::ffff:0:0/96`: an IPv4 address in an IPv6 socket (RFC 4291, section 2.5.5.2).
    fileprivate static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// An address, and the IPv4 addresses that packets to it may reach: mapped, translated and tunnelled ones.
    ///
    /// Only the operator of a translator knows the length of its prefix. So all possible lengths are tried.
    static func addresses(meantBy octets: [UInt8]) -> [[UInt8]] {
        guard octets.count == 16 else { return [octets] }
        var meant = [octets]
        func add(_ places: Int...) { meant.append(places.map { octets[$0] }) }
        let zeros = octets.prefix { $0 == 0 }.count
        // RFC 4291, section 2.5.5: IPv4-mapped and, if it is neither `::` nor `::1`, IPv4-compatible.
        // RFC 2765, section 2.1: IPv4-translated, `::ffff:0:0:0/96`.
        let isCompatible = zeros >= 12 && octets.suffix(4) != [0, 0, 0, 0] && octets.suffix(4) != [0, 0, 0, 1]
        if octets.starts(with: mappedPrefix) || isCompatible
            || zeros == 8 && octets[8..<12] == [0xFF, 0xFF, 0, 0]
        {
            add(12, 13, 14, 15)
        }
        // RFC 6052, section 2.1: the well-known prefix, `64:ff9b::/96`.
        if octets.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { add(12, 13, 14, 15) }
        // RFC 8215: translators of a network have prefixes of 48 to 96 bits in `64:ff9b:1::/48`. RFC 6052, section 2.2:
        // octet 8 is in none of their addresses.
        if octets.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 1]) {
            for places in [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]] {
                let address = places.map { octets[$0] }
                // With a longer prefix, these octets are its own.
                if address != [0, 0, 0, 0] { meant.append(address) }
            }
        }
        // RFC 3056: 6to4, `2002::/16`.
        if octets.starts(with: [0x20, 0x02]) { add(2, 3, 4, 5) }
        // RFC 4380, section 4: Teredo, `2001::/32`. The address of the server, and the inverted one of the client.
        if octets.starts(with: [0x20, 0x01, 0, 0]) {
            add(4, 5, 6, 7)
            meant.append(octets.suffix(4).map { ~$0 })
        }
        // RFC 5214, section 6.1: ISATAP.
        if octets[8] & 0xFD == 0, octets[9..<12] == [0, 0x5E, 0xFE] { add(12, 13, 14, 15) }
        return meant
    }
}
