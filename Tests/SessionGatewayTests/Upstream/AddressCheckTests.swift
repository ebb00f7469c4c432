import NIOCore
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Addresses that the gateway does not connect to")
struct AddressCheckTests {
    private static func octets(_ text: String) throws -> [UInt8] {
        let octets = try SocketAddress(ipAddress: text, port: 80).addressOctets
        try #require(octets.count == 4 || octets.count == 16, "\(text)")
        return octets
    }

    @Test(
        "The metadata services of clouds are not reachable",
        arguments: [
            "169.254.169.254", "169.254.170.2", "169.254.0.23", "fd00:ec2::254", "fd00:ec2::23",  // Amazon
            "100.100.100.200", "fd00:100::100:200",  // Alibaba
            "168.63.129.16",  // Azure
            "fd00:a9fe:a9fe::1",  // Akamai
            "fd20:ce::254",  // Google
            "fe80::a9fe:a9fe",  // OpenStack
            "fd00:c1::a9fe:a9fe", "192.0.0.192",  // Oracle
            "fd00:42::42",  // Scaleway
        ])
    func metadataServices(address: String) throws {
        #expect(!WebHost.isReachable(try Self.octets(address)))
    }

    /// Ways to write `169.254.169.254` and `127.0.0.1` as an address of IPv6, and those with the same prefix that stand for
    /// a public address.
    private static let translations: [(metadata: String, loopback: String, other: String)] = [
        // RFC 4291, section 2.5.5: compatible and mapped.
        ("::a9fe:a9fe", "::7f00:1", "::808:808"),
        ("::ffff:a9fe:a9fe", "::ffff:7f00:1", "::ffff:808:808"),
        // RFC 2765: translated.
        ("::ffff:0:a9fe:a9fe", "::ffff:0:7f00:1", "::ffff:0:808:808"),
        // RFC 6052: the well-known prefix.
        ("64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::808:808"),
        // RFC 8215 with the layouts of RFC 6052, section 2.2: /48, /56, /64 and /96; a suffix does not hide it.
        ("64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:7f00:0:100::", "64:ff9b:1:808:8:800::"),
        ("64:ff9b:1:a9fe:a9:fe00:1:2", "64:ff9b:1:7f00:0:100:1:2", "64:ff9b:1:808:8:800:1:2"),
        ("64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:7f:0:1::", "64:ff9b:1:8:8:808::"),
        ("64:ff9b:1:2a9:fe:a9fe::", "64:ff9b:1:27f:0:1::", "64:ff9b:1:208:8:808::"),
        ("64:ff9b:1:0:a9:fea9:fe00:0", "64:ff9b:1:0:7f:0:100:0", "64:ff9b:1:0:8:808:800:0"),
        ("64:ff9b:1::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808"),
        ("64:ff9b:1:2:3:4:a9fe:a9fe", "64:ff9b:1:2:3:4:7f00:1", "64:ff9b:1:2:3:4:808:808"),
        // RFC 3056: 6to4.
        ("2002:a9fe:a9fe::1", "2002:7f00:1::1", "2002:808:808::1"),
        // RFC 4380: Teredo, the server and the inverted client.
        ("2001:0:a9fe:a9fe::", "2001:0:7f00:1::", "2001:0:808:808::"),
        ("2001:0:808:808:0:0:5601:5601", "2001:0:808:808:0:0:80ff:fffe", "2001:0:808:808:0:0:f7f7:f7f7"),
        // RFC 5214: ISATAP.
        ("2001:db8::5efe:a9fe:a9fe", "2001:db8::5efe:7f00:1", "2001:db8::5efe:808:808"),
        ("2001:db8::200:5efe:a9fe:a9fe", "2001:db8::200:5efe:7f00:1", "2001:db8::200:5efe:808:808"),
    ]

    @Test("A translated address is judged by the address that it stands for", arguments: translations)
    func translated(metadata: String, loopback: String, other: String) throws {
        #expect(!WebHost.isReachable(try Self.octets(metadata)))
        #expect(try SocketAddress(ipAddress: loopback, port: 80).isThisMachine)
        #expect(WebHost.isReachable(try Self.octets(other)))
        #expect(try !SocketAddress(ipAddress: other, port: 80).isThisMachine)
    }

    @Test(
        "Addresses that are no metadata services are reachable",
        arguments: [
            "127.0.0.1", "10.0.0.1", "192.168.254.169", "100.100.100.201", "168.63.129.17", "169.253.1.1", "8.8.8.8",
            "::1",
            "fd00:ec2::253", "fd00:a9fe:a9fe::2", "fe80::1", "2606:4700:4700::1111", "2001:4860:4860::8888",
            "64:ff9b:2::a9fe:a9fe", "2001:1:a9fe:a9fe::",
        ])
    func reachable(address: String) throws {
        #expect(WebHost.isReachable(try Self.octets(address)))
    }

    @Test(
        "Only this machine's own addresses are loopback addresses to listen on",
        arguments: [
            ("127.0.0.1", true), ("127.255.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("0.0.0.0", false),
            ("::", false), ("2002:7f00:1::1", false), ("64:ff9b::7f00:1", false), ("10.0.0.1", false),
        ])
    func loopback(address: String, isLoopback: Bool) throws {
        #expect(try SocketAddress(ipAddress: address, port: 80).isLoopback == isLoopback)
        #expect(try SocketAddress(ipAddress: "0.0.0.0", port: 80).isThisMachine)
        #expect(try SocketAddress(ipAddress: "::", port: 80).isThisMachine)
    }
}
