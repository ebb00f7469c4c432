import NIOCore

/// Rejects new connections, while established ones wait to be accepted.
///
/// Closing a listening socket resets the connections that it has not accepted yet: their clients may have sent
/// requests, and do not learn whether they were processed. The filter drops the first packets of new connections, so
/// that no more are established. Their clients try again after a second, and are refused then.
enum NewConnectionFilter {
    #if os(Linux)
        /// An instruction of the kernel's packet filter (`struct sock_filter`).
        private struct Instruction {
            /// BPF_RET | BPF_K.
            var code: UInt16 = 0x06
            var jumpIfTrue: UInt8 = 0
            var jumpIfFalse: UInt8 = 0
            /// How many bytes of a packet are let through.
            var length: UInt32 = 0
        }

        /// A program of such instructions (`struct sock_fprog`): their number, and their address.
        private struct Program {
            var count: UInt16 = 1
            let address: UInt
        }

        /// SO_ATTACH_FILTER.
        private static let option = NIOBSDSocket.Option(rawValue: 26)
    #endif

    /// Rejects new connections from now on, if the system can.
    static func attach(to channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
            guard let provider = channel as? any SocketOptionProvider else {
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            let instruction = UnsafeMutablePointer<Instruction>.allocate(capacity: 1)
            instruction.initialize(to: Instruction())
            let address = UInt(bitPattern: instruction)
            return provider.unsafeSetSocketOption(
                level: .socket, name: option, value: Program(address: address)
            ).always { _ in
                // The kernel has made a copy.
                UnsafeMutablePointer<Instruction>(bitPattern: address)?.deallocate()
            }
        #else
            return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
