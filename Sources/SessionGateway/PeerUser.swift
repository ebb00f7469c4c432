import NIOCore
import WebPrimitives

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Which user a connection from this machine belongs to.
///
/// A loopback port is open to every user of the machine, and who can use a gateway has the session.
enum PeerUser {
    /// Whether the other end of a connection belongs to this process's user or to root. Only Linux can tell; elsewhere
    /// `true`. Ask as soon as the connection is accepted: of a socket that was closed, nothing is known.
    static func mayUse(_ channel: any Channel) -> Bool {
        #if os(Linux)
            guard let local = channel.localAddress, let remote = channel.remoteAddress,
                let user = user(from: remote, to: local)
            else { return false }
            return user == getuid() || user == 0
        #else
            return true
        #endif
    }

    /// Whether the other end of a connection from this machine has closed its socket. Only Linux can tell; elsewhere `false`.
    static func hasClosed(_ channel: any Channel) -> Bool {
        #if os(Linux)
            guard let local = channel.localAddress, let remote = channel.remoteAddress else { return false }
            return user(from: remote, to: local) == nil
        #else
            return false
        #endif
    }

    #if os(Linux)
        private static let sockDiag: Int32 = 4
        private static let sockDiagByFamily: UInt16 = 20
        private static let userOffset = 80
        private static let inodeOffset = 84

        /// The owner of the TCP socket at `remote` that is connected to `local`; `nil` if the kernel does not tell.
        ///
        /// Asks the kernel for that one socket (`sock_diag(7)`), so the cost does not grow with their number.
        static func user(from remote: SocketAddress, to local: SocketAddress) -> UInt32? {
            guard let request = request(from: remote, to: local) else { return nil }
            let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), sockDiag)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            guard send(descriptor, request, request.count, 0) == request.count else { return nil }
            var answer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &answer, answer.count, 0)
            let buffer = ByteBuffer(bytes: answer.prefix(max(count, 0)))
            guard buffer.getInteger(at: 4, endianness: Endianness.host, as: UInt16.self) == sockDiagByFamily else {
                return nil
            }
            // A socket that was closed has no inode, and the kernel names root as its owner.
            guard let inode = buffer.getInteger(at: inodeOffset, endianness: Endianness.host, as: UInt32.self),
                inode != 0
            else { return nil }
            return buffer.getInteger(at: userOffset, endianness: Endianness.host, as: UInt32.self)
        }

        /// A request for the state of one socket: `nlmsghdr`, then `inet_diag_req_v2`.
        private static func request(from remote: SocketAddress, to local: SocketAddress) -> [UInt8]? {
            let (source, target) = (remote.addressOctets, local.addressOctets)
            guard let sourcePort = remote.port, let targetPort = local.port, source.count == target.count,
                !source.isEmpty
            else { return nil }
            var request = ByteBuffer()
            // Length, type, NLM_F_REQUEST, sequence number, port.
            request.writeInteger(UInt32(72), endianness: Endianness.host)
            request.writeInteger(sockDiagByFamily, endianness: Endianness.host)
            request.writeInteger(UInt16(1), endianness: Endianness.host)
            request.writeRepeatingByte(0, count: 8)
            // Family, protocol, extensions, padding, states.
            request.writeInteger(UInt8(source.count == 4 ? AF_INET : AF_INET6))
            request.writeInteger(UInt8(IPPROTO_TCP))
            request.writeRepeatingByte(0, count: 2)
            request.writeInteger(UInt32.max)
            // The ports and addresses of the socket, its interface, no cookie.
            request.writeInteger(UInt16(truncatingIfNeeded: sourcePort))
            request.writeInteger(UInt16(truncatingIfNeeded: targetPort))
            for address in [source, target] {
                request.writeBytes(address)
                request.writeRepeatingByte(0, count: 16 - address.count)
            }
            request.writeRepeatingByte(0, count: 4)
            request.writeInteger(UInt64.max)
            return Array(buffer: request)
        }
    #endif
}
