import NIOCore
import Platform
import WebPrimitives

/// Which user a connection from this machine belongs to.
///
/// A loopback port is open to every user of the machine, and anyone who can use a gateway has the session.
enum PeerUser {
    /// Whether a connection may use the gateway.
    enum Access {
        case permitted
        /// It belongs to another user, or its other end is closed.
        case denied
        /// The system does not report it, for example because no descriptor is free for the query.
        case unknown
    }

    /// Whether the other end of a connection belongs to this process's user or to root. Only Linux reports it;
    /// elsewhere access is permitted. Call it as soon as the connection is accepted: nothing is known of a closed
    /// socket.
    static func access(_ channel: any Channel) -> Access {
        #if os(Linux)
            guard let local = channel.localAddress, let remote = channel.remoteAddress else { return .denied }
            return switch owner(from: remote, to: local) {
            case .user(let user): user == getuid() || user == 0 ? .permitted : .denied
            case .closed: .denied
            case .unknown: .unknown
            }
        #else
            return .permitted
        #endif
    }

    /// Whether the other end of a connection from this machine has closed its socket. Only Linux reports it; elsewhere
    /// `false`.
    static func hasClosed(_ channel: any Channel) -> Bool {
        #if os(Linux)
            guard let local = channel.localAddress, let remote = channel.remoteAddress else { return false }
            return owner(from: remote, to: local) == .closed
        #else
            return false
        #endif
    }

    #if os(Linux)
        /// The owner of a socket.
        enum Owner: Equatable {
            case user(UInt32)
            /// The socket was closed.
            case closed
            /// The kernel does not report it.
            case unknown
        }

        private static let sockDiag: Int32 = 4
        private static let errorType: UInt16 = 2
        private static let errorOffset = 16
        private static let sockDiagByFamily: UInt16 = 20
        private static let userOffset = 80
        private static let inodeOffset = 84

        /// The owner of the TCP socket at `remote` that is connected to `local`.
        ///
        /// Asks the kernel for that one socket (`sock_diag(7)`), so the cost does not grow with the number of sockets.
        static func owner(from remote: SocketAddress, to local: SocketAddress) -> Owner {
            guard let request = request(from: remote, to: local) else { return .unknown }
            let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), sockDiag)
            guard descriptor >= 0 else { return .unknown }
            defer { close(descriptor) }
            guard send(descriptor, request, request.count, 0) == request.count else { return .unknown }
            var answer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &answer, answer.count, 0)
            return owner(in: ByteBuffer(bytes: answer.prefix(max(count, 0))))
        }

        /// The owner in an answer of the kernel: `nlmsghdr`, then `inet_diag_msg` or `nlmsgerr`.
        static func owner(in answer: ByteBuffer) -> Owner {
            switch answer.getInteger(at: 4, endianness: Endianness.host, as: UInt16.self) {
            case errorType:
                let failure = answer.getInteger(at: errorOffset, endianness: Endianness.host, as: Int32.self)
                return failure == -ENOENT ? .closed : .unknown
            case sockDiagByFamily:
                guard let user = answer.getInteger(at: userOffset, endianness: Endianness.host, as: UInt32.self),
                    let inode = answer.getInteger(at: inodeOffset, endianness: Endianness.host, as: UInt32.self)
                else { return .unknown }
                // A closed socket has no inode, and the kernel names root as its owner.
                return inode == 0 ? .closed : .user(user)
            default: return .unknown
            }
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
