import NIOCore
import NIOPosix
import Platform
import Testing

@testable import SessionGateway

@Suite("A gateway without descriptors")
struct ExhaustionTests {
    @Test("A listener is not polled while there is no descriptor, and again after a pause")
    func pause() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let isPolled = { @Sendable in try channel.syncOptions?.getOption(.autoRead) }
        for number in [EMFILE, ENFILE, ENOBUFS, ENOMEM] {
            let during = try await channel.eventLoop.submit {
                channel.pipeline.fireErrorCaught(IOError(errnoCode: number, reason: "accept"))
                return try isPolled()
            }.get()
            #expect(during == false)
            try await channel.eventLoop.scheduleTask(in: .milliseconds(150)) {}.futureResult.get()
            #expect(try await channel.eventLoop.submit { try isPolled() }.get() == true)
        }
        let other = try await channel.eventLoop.submit {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
            return try isPolled()
        }.get()
        #expect(other == true)
        try await channel.close()
    }

    #if os(Linux)
        /// An answer of `sock_diag(7)`.
        private static func answer(type: UInt16, _ values: (offset: Int, value: UInt32)...) -> ByteBuffer {
            var buffer = ByteBuffer(repeating: 0, count: 88)
            buffer.setInteger(type, at: 4, endianness: Endianness.host)
            for (offset, value) in values { buffer.setInteger(value, at: offset, endianness: Endianness.host) }
            return buffer
        }

        @Test("An answer of the kernel is a user, the end of the socket, or nothing that counts as another user")
        func owners() {
            let failure = { (number: Int32) in Self.answer(type: 2, (16, UInt32(bitPattern: -number))) }
            #expect(PeerUser.owner(in: Self.answer(type: 20, (80, 1000), (84, 7))) == .user(1000))
            #expect(PeerUser.owner(in: Self.answer(type: 20, (80, 0), (84, 0))) == .closed)
            #expect(PeerUser.owner(in: failure(ENOENT)) == .closed)
            #expect(PeerUser.owner(in: failure(EPERM)) == .unknown)
            #expect(PeerUser.owner(in: failure(ENOBUFS)) == .unknown)
            #expect(PeerUser.owner(in: ByteBuffer()) == .unknown)
            #expect(PeerUser.owner(in: ByteBuffer(repeating: 0, count: 40)) == .unknown)
        }
    #endif
}
