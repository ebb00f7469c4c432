import NIOCore
import WebPrimitives

/// Refuses connections to addresses that the gateway may not reach, whatever names led to them: each address is checked
/// just before it is connected to.
final class AddressCheck: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    /// An address may not be connected to.
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

    /// Whether a connection to it leads to this machine itself: a loopback address, or the address of all zeros, which
    /// operating systems take for one.
    var isThisMachine: Bool {
        let octets = WebHost.embeddedIPv4(addressOctets)
        return isLoopback || !octets.isEmpty && octets.allSatisfy { $0 == 0 }
    }

    /// Whether it is one of this machine's own loopback addresses.
    var isLoopback: Bool {
        let octets = WebHost.embeddedIPv4(addressOctets)
        return octets.count == 4 ? octets[0] == 127 : octets == [UInt8](repeating: 0, count: 15) + [1]
    }
}

extension WebHost {
    /// The addresses at which clouds give credentials to any program of a machine, beside `169.254.0.0/16`.
    private static let metadataServices: [[UInt8]] = [
        [100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192],
        [0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54],
        // Amazon EKS Pod Identity: docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
        [0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23],
        [0xFD, 0x20, 0, 0xCE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54],
        // Scaleway: docs.cloud-init.io/en/latest/reference/datasources/scaleway.html
        [0xFD, 0, 0, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x42],
    ]

    /// Whether the gateway may connect to an address. What is no address has to be resolved first.
    static func isReachable(_ address: [UInt8]) -> Bool {
        let octets = embeddedIPv4(address)
        return !octets.starts(with: [169, 254]) && !metadataServices.contains(octets)
    }

    /// The octets of an IPv4 address that is mapped into IPv6, or translated by NAT64 (RFC 6052); others as they are.
    static func embeddedIPv4(_ octets: [UInt8]) -> [UInt8] {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        let translated = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)
        guard octets.count == 16, octets.starts(with: mapped) || octets.starts(with: translated) else { return octets }
        return Array(octets.suffix(4))
    }
}
