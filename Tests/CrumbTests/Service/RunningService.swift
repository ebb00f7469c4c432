import Foundation
import Platform
import TestSupport
import Testing

/// `crumb serve` on a database of its own, and the command that asks it.
final class RunningService: Sendable {
    /// How it is reached.
    enum Way: Sendable, CaseIterable {
        /// By a Unix-domain socket that needs no access token.
        case socket
        /// By TCP, with the owner's access token.
        case network
    }

    struct NotStarted: Error {
        let messages: String
    }

    /// The home that the database lies in.
    let home = CrumbHome()
    /// The address, as `--service` takes it.
    let address: String
    private let way: Way
    private let process: RunningProcess

    /// - Parameter prepare: Fills the home before the service starts; gives further options for it.
    init(_ way: Way, preparing prepare: (CrumbHome) throws -> [String] = { _ in [] }) throws {
        self.way = way
        let place: [String]
        switch way {
        case .socket:
            address = "unix:\(home.file("s"))"
            place = ["--socket", home.file("s")]
        case .network:
            let port = try RunningService.freePort()
            address = "http://127.0.0.1:\(port)"
            place = ["--listen", "127.0.0.1:\(port)"]
        }
        process = try home.start(["serve", "--log-level", "error"] + place + prepare(home))
        for _ in 0..<600 {
            if try ask(["jars", "list"]).status == 0 { return }
            usleep(50_000)
        }
        process.kill()
        throw NotStarted(messages: process.wait().messages)
    }

    deinit {
        process.kill()
        _ = process.wait()
    }

    /// The file with the owner's access token.
    var tokenFile: String { home.file("crumb.sqlite.token") }

    /// What differs in the environment of a command that asks the service.
    var variables: [String: String?] {
        [
            "CRUMB_SERVICE": address, "CRUMB_DATABASE": nil, "CRUMB_KEY_FILE": home.file("no-key"),
            "CRUMB_SERVICE_TOKEN_FILE": way == .network ? tokenFile : nil,
        ]
    }

    /// Runs `crumb` so that it asks the service.
    func ask(_ arguments: [String], input: String = "/dev/null", variables: [String: String?] = [:]) throws -> RunResult
    {
        try home.start(arguments, input: input, variables: self.variables.merging(variables) { $1 }).wait()
    }

    /// A free port of this machine.
    static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, SocketKind.stream, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw NotStarted(messages: "there is no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
