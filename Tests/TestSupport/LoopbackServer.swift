import Foundation
import Platform
import Synchronization

/// An HTTP server on a loopback address that answers as a test says, and remembers octet for octet what it was asked.
public final class LoopbackServer: Sendable {
    /// A request as it came.
    public struct Request: Sendable {
        /// The method.
        public internal(set) var method = ""
        /// The path with its query.
        public internal(set) var target = ""
        /// The fields in order, names in lower case.
        public internal(set) var fields: [(name: String, value: [UInt8])] = []
        /// The body, chunks as they are.
        public internal(set) var body: [UInt8] = []

        /// The values of a field, in order.
        public func values(_ name: String) -> [[UInt8]] {
            fields.filter { $0.name == name }.map(\.value)
        }

        /// The values of a field as text.
        public func text(_ name: String) -> [String] {
            values(name).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// What to answer.
    public struct Response: Sendable {
        /// The status code. After an interim response (1xx), the connection is cut.
        public var status: Int
        /// The fields in order.
        public var fields: [(name: String, value: [UInt8])]
        /// The body.
        public var body: [UInt8]
        /// How many bytes more the response promises than it has.
        public var missingByteCount = 0

        /// A response from text.
        public init(_ status: Int = 200, setCookie: [String] = [], location: String? = nil, body: String = "body\n") {
            self.status = status
            self.body = Array(body.utf8)
            fields = setCookie.map { ("Set-Cookie", Array($0.utf8)) }
            if let location { fields.append(("Location", Array(location.utf8))) }
        }

        fileprivate var octets: [UInt8] {
            var octets = Array("HTTP/1.1 \(status) Status\r\n".utf8)
            for field in fields { octets += Array("\(field.name): ".utf8) + field.value + Array("\r\n".utf8) }
            if status < 200 { return octets + Array("\r\n".utf8) }
            return octets + Array("Content-Length: \(body.count + missingByteCount)\r\nConnection: close\r\n\r\n".utf8)
        }
    }

    /// What answers a request.
    public typealias Handler = @Sendable (Request) -> Response

    /// The port it listens on.
    public let port: UInt16
    private let listener: Int32
    private let recorded = Mutex<[Request]>([])

    /// What was asked so far, in order.
    public var requests: [Request] { recorded.withLock { $0 } }

    /// A server on a port of its own.
    ///
    /// - Parameters:
    ///   - address: where it listens; every `127.x.y.z` is this machine on Linux.
    ///   - afterAnswer: what happens between an answer and the end of its connection.
    public init(
        address text: String = "127.0.0.1", afterAnswer: @escaping @Sendable () -> Void = {},
        _ handler: @escaping Handler
    ) throws {
        listener = socket(AF_INET, SocketKind.stream, 0)
        var reuse: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        guard inet_pton(AF_INET, text, &address.sin_addr) == 1 else { throw POSIXError(.EINVAL) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [weak self] in
            // Closed here alone: a descriptor that is closed elsewhere may be another server's when it is accepted from next.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                guard let server = self else {
                    close(connection)
                    return
                }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { server.serve(connection, handler, afterAnswer) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ connection: Int32, _ handler: Handler, _ afterAnswer: () -> Void) {
        defer { close(connection) }
        guard let request = LoopbackServer.read(connection) else { return }
        recorded.withLock { $0.append(request) }
        let response = handler(request)
        var octets = response.octets + (request.method == "HEAD" ? [] : response.body)
        while !octets.isEmpty {
            let count = send(connection, octets, octets.count, 0)
            guard count > 0 else { return }
            octets.removeFirst(count)
        }
        afterAnswer()
    }

    private static func read(_ connection: Int32) -> Request? {
        var octets: [UInt8] = []
        let blank = Array("\r\n\r\n".utf8)
        func receive() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(connection, &buffer, buffer.count, 0)
            if count > 0 { octets += buffer[..<count] }
            return count > 0
        }
        var end: Range<Int>?
        while end == nil {
            guard receive() else { return nil }
            end = octets.firstRange(of: blank)
        }
        guard let end else { return nil }
        var request = Request()
        let lines = octets[..<end.lowerBound].split(separator: UInt8(ascii: "\n")).map { $0.filter { $0 != 0x0D } }
        let words = lines.first?.split(separator: UInt8(ascii: " ")) ?? []
        guard words.count == 3 else { return nil }
        request.method = String(decoding: words[0], as: UTF8.self)
        request.target = String(decoding: words[1], as: UTF8.self)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            request.fields.append((name, Array(line[(colon + 1)...].drop { $0 == 0x20 })))
        }
        let length = request.text("content-length").first.flatMap { Int($0) } ?? 0
        let isChunked = request.text("transfer-encoding") == ["chunked"]
        if !request.values("expect").isEmpty { _ = send(connection, "HTTP/1.1 100 Continue\r\n\r\n", 25, 0) }
        let isComplete = { (body: ArraySlice<UInt8>) in
            isChunked ? body.suffix(5).elementsEqual(Array("0\r\n\r\n".utf8)) : body.count >= length
        }
        while !isComplete(octets[end.upperBound...]) {
            guard receive() else { return nil }
        }
        // The chunks as they are: tests look for what is in them.
        request.body = Array(octets[end.upperBound...])
        return request
    }
}
