import Foundation
import NIOCore
import NIOPosix

/// What comes on standard input, read where waiting for it holds nobody up.
struct StandardInput: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = ByteBuffer

    private static let chunkByteCount = 1 << 17

    /// What was read already and comes first.
    var beginning = ByteBuffer()

    func makeAsyncIterator() -> StandardInput { self }

    mutating func next() async throws -> ByteBuffer? {
        guard beginning.readableBytes == 0 else {
            defer { beginning = ByteBuffer() }
            return beginning
        }
        return try await NIOThreadPool.singleton.runIfActive { try StandardInput.chunk() }
    }

    private static func chunk() throws -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: chunkByteCount)
        let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: chunkByteCount) { bytes in
            while true {
                let count = read(STDIN_FILENO, bytes.baseAddress, chunkByteCount)
                if count >= 0 { return count }
                guard errno == EINTR else { throw IOError(errnoCode: errno, reason: "reading standard input") }
            }
        }
        return count > 0 ? buffer : nil
    }
}
