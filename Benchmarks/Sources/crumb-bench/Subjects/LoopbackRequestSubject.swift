import DriverSupport
import Glibc

/// An HTTP request to this machine and its answer, as lean as it can be: bare sockets, a connection for each.
struct LoopbackRequestSubject: BenchmarkSubject {
    private static let requests = 200

    private let server: LoopbackResponder

    init(_ workload: Workload) throws {
        server = try LoopbackResponder()
        try server.ask()
    }

    mutating func run() throws -> Repetition {
        let start = ProcessClock.wallSeconds
        for _ in 0..<Self.requests { try server.ask() }
        return Repetition(seconds: ProcessClock.wallSeconds - start, operations: Self.requests, facts: [])
    }
}

/// Answers one request after the other on a thread of its own, for as long as the process lives.
private struct LoopbackResponder {
    private static let request = Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
    private static let response = Array(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".utf8)

    private let port: in_port_t

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = LoopbackResponder.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listener >= 0, isListening else { throw DriverError.skipped("cannot listen on this machine") }
        port = address.sin_port
        var thread = pthread_t()
        let argument = UnsafeMutableRawPointer(bitPattern: Int(listener))
        pthread_create(
            &thread, nil,
            { argument in
                let listener = Int32(Int(bitPattern: argument))
                while true {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0 else { return nil }
                    var buffer = [UInt8](repeating: 0, count: 1024)
                    if read(connection, &buffer, buffer.count) > 0 {
                        _ = write(connection, LoopbackResponder.response, LoopbackResponder.response.count)
                    }
                    close(connection)
                }
            }, argument)
    }

    /// Makes a request and reads its answer to the end.
    func ask() throws {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(connection) }
        var address = LoopbackResponder.address(port: port)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw DriverError.skipped("cannot connect to this machine") }
        _ = write(connection, LoopbackResponder.request, LoopbackResponder.request.count)
        var buffer = [UInt8](repeating: 0, count: 1024)
        var count = 0
        while case let length = read(connection, &buffer, buffer.count), length > 0 { count += length }
        guard count == LoopbackResponder.response.count else { throw DriverError.skipped("lost an answer") }
    }

    private static func address(port: in_port_t) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }
}
