import Foundation
import NIOCore
import NIOPosix
import Testing

/// A connection on which a test says what it likes, and reads what is answered.
final class RawConnection {
    struct Answer {
        let status: Int
        let fields: [String: String]
        let body: String
    }

    /// The other side has ended the connection.
    struct Closed: Error {}

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var text = ""

    private init(
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    ) {
        self.outbound = outbound
        self.inbound = inbound
    }

    /// Connects to a socket's path, or to a port of 127.0.0.1.
    static func with<Result: Sendable>(
        path: String? = nil, port: Int? = nil, _ body: (RawConnection) async throws -> sending Result
    ) async throws -> sending Result {
        let address =
            try path.map { try SocketAddress(unixDomainSocketPath: $0) }
            ?? SocketAddress(ipAddress: "127.0.0.1", port: try #require(port))
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address) {
            channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(RawConnection(outbound, inbound.makeAsyncIterator()))
        }
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Waits until what has come, and was not taken yet, has `words` in it.
    func wait(for words: String) async throws {
        while !text.contains(words) {
            guard let bytes = try await inbound.next(isolation: #isolation) else { throw Closed() }
            text += String(buffer: bytes)
        }
    }

    /// The next answer.
    ///
    /// - Parameter isHeadOnly: whether it has no body, whatever its fields say.
    func answer(isHeadOnly: Bool = false) async throws -> Answer {
        while true {
            if let end = text.range(of: "\r\n\r\n") {
                let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
                let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
                    .reduce(into: [String: String]()) {
                        $0[$1[0].lowercased()] = $1.count > 1 ? $1[1].trimmingCharacters(in: .whitespaces) : ""
                    }
                let rest = Array(text[end.upperBound...].utf8)
                let parts =
                    isHeadOnly
                    ? ([], rest[...])
                    : fields["transfer-encoding"] == "chunked"
                        ? RawConnection.chunks(rest)
                        : RawConnection.counted(rest, Int(fields["content-length"] ?? "") ?? 0)
                if let (body, others) = parts {
                    text = String(decoding: others, as: UTF8.self)
                    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
                    return Answer(
                        status: try #require(status), fields: fields, body: String(decoding: body, as: UTF8.self))
                }
            }
            guard let bytes = try await inbound.next(isolation: #isolation) else { throw Closed() }
            text += String(buffer: bytes)
        }
    }

    /// A body of so many octets, and what comes behind it; `nil` where not all have come.
    private static func counted(_ octets: [UInt8], _ count: Int) -> ([UInt8], ArraySlice<UInt8>)? {
        octets.count < count ? nil : (Array(octets.prefix(count)), octets.dropFirst(count))
    }

    /// A body in chunks (RFC 9112, section 7.1), its trailer section left out, and what comes behind it; `nil` where
    /// not all have come.
    private static func chunks(_ octets: [UInt8]) -> ([UInt8], ArraySlice<UInt8>)? {
        var body: [UInt8] = []
        var rest = octets[...]
        while let line = rest.firstRange(of: Array("\r\n".utf8)) {
            guard let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            rest = rest[line.upperBound...]
            guard count > 0 else {
                while let end = rest.firstRange(of: Array("\r\n".utf8)) {
                    let isEmpty = end.lowerBound == rest.startIndex
                    rest = rest[end.upperBound...]
                    if isEmpty { return (body, rest) }
                }
                return nil
            }
            guard rest.count >= count + 2 else { return nil }
            body += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
        }
        return nil
    }

    /// Asks, and gives the answer.
    func ask(
        _ method: String = "GET", _ path: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        var fields = fields
        if fields["Host"] == nil { fields["Host"] = "localhost" }
        if let body {
            fields["Content-Length"] = "\(body.utf8.count)"
            if fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        }
        let head = fields.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.joined()
        try await send("\(method) \(path) HTTP/1.1\r\n\(head)\r\n\(body ?? "")")
        return try await answer(isHeadOnly: method == "HEAD")
    }
}
