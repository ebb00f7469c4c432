import SessionStore
import Testing

@testable import SessionService

@Suite("Connections of each listener")
struct ConnectionPoolTests {
    @Test("A port without free connections does not block the socket, nor vice versa", arguments: [true, false])
    func apart(isSocketFull: Bool) async throws {
        try await RunningServer.with {
            $0.limits.connections = 2
        } _: { server in
            let token = try server.token("t", [.read])
            let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"]
            let full = isSocketFull ? server.socket : nil
            let free = isSocketFull ? nil : server.socket
            try await RawConnection.with(path: full, port: server.port) { first in
                let one = try await first.ask("GET", "/v1/jars", fields)
                try await RawConnection.with(path: full, port: server.port) { second in
                    let two = try await second.ask("GET", "/v1/jars", fields)
                    #expect(one.status == 200 && two.status == 200)
                    try await RawConnection.with(path: free, port: server.port) { other in
                        let answered = try await other.ask("GET", "/metrics", fields)
                        #expect(answered.status == 200 && answered.body.contains("crumb_connections 3"))
                    }
                    try await RawConnection.with(path: full, port: server.port) { third in
                        let refused = try await third.ask("GET", "/v1/jars", fields)
                        #expect(refused.status == 503 && refused.body.contains("connections-exhausted"))
                    }
                }
            }
        }
    }
}
