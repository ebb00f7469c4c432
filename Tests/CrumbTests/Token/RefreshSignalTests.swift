import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

/// Signals that come between a refresh request and its answer, and servers that take their time.
@Suite("Signals during a refresh", .timeLimit(.minutes(10)))
struct RefreshSignalTests {
    private let home = CrumbHome()
    private let server: HoldingServer
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let rounds = 5
    /// Starts a program that leaves no core file when SIGQUIT ends it.
    private static let withoutCore = ["sh", "-c", "ulimit -c 0; exec \"$0\" \"$@\""]

    init() throws {
        server = try HoldingServer()
        let tokens = try home.write(AuthorizationServer.tokens(expired: true), to: "tokens")
        let result = try home.start(
            ["token", "import", "work", "--client-id", "app", "--endpoint", "token_endpoint=\(server.endpoint)"],
            input: tokens
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
    }

    /// The refresh token that is stored, if the server still takes it.
    private func stored() throws -> String? {
        server.holds(false)
        defer { server.holds(true) }
        let result = try home.crumb("token", "export", "--format", "json", "work")
        return try result.objects().first?["refresh_token"] as? String
    }

    // MARK: - Commands

    @Test("A signal to all of the group waits until the new refresh token is stored", arguments: signals)
    func group(signal: Int32) throws {
        for round in 1...RefreshSignalTests.rounds {
            let process = try home.start(
                ["token", "refresh", "work"], prefix: RefreshSignalTests.withoutCore, leadsGroup: true)
            try server.awaitRequest()
            process.send(signal, toGroup: true)
            server.answer()
            let result = process.wait()
            #expect(result.status == -signal, "\(result.messages)")
            #expect(result.messages.contains("a login is being renewed"), "\(result.messages)")
            #expect(try stored() == "refresh-\(round)")
        }
        #expect(server.isAlive)
    }

    @Test(
        "So it is for each command that refreshes",
        arguments: [["get"], ["header"], ["export"], ["export", "--format", "netrc", "--host", "a.example"]])
    func commands(command: [String]) throws {
        let process = try home.start(["token"] + command + ["work"], leadsGroup: true)
        try server.awaitRequest()
        process.send(SIGTERM, toGroup: true)
        server.answer()
        let result = process.wait()
        #expect(result.status == -SIGTERM && result.output.isEmpty, "\(result.messages)")
        #expect(try stored() == "refresh-1")
    }

    #if os(Linux)
        @Test("A program that passes its signal on ends no refresh", arguments: [SIGINT, SIGTERM, SIGHUP])
        func passedOn(signal: Int32) throws {
            let process = try home.start(["token", "get", "work"], prefix: ["timeout", "1000"])
            try server.awaitRequest()
            process.send(signal)
            server.answer()
            #expect(process.wait().output.isEmpty)
            #expect(try stored() == "refresh-1")
        }
    #endif

    @Test("The second Control-C prints what would be lost; the third one ends the program at once")
    func thrice() throws {
        let messages = try TalkPipe(home.file("messages"))
        let process = try home.start(["token", "refresh", "work"], messages: messages.path, leadsGroup: true)
        try server.awaitRequest()
        process.send(SIGINT, toGroup: true)
        #expect(messages.says("a login is being renewed"))
        process.send(SIGINT, toGroup: true)
        #expect(messages.says("you may have to log in again") && messages.says("Control-C once more"))
        // Only Control-C counts: `timeout` sends its signal twice.
        for signal in RefreshSignalTests.signals.dropFirst() { process.send(signal, toGroup: true) }
        process.send(SIGINT, toGroup: true)
        #expect(process.wait().status == -SIGINT)
        // Whatever else belongs to it has standard error, too.
        messages.awaitEnd()
        server.answer()
    }

    @Test("A signal that was ignored before stays ignored")
    func ignored() throws {
        let process = try home.start(["token", "get", "work"], prefix: ["nohup"], leadsGroup: true)
        try server.awaitRequest()
        process.send(SIGHUP, toGroup: true)
        server.answer()
        let result = process.wait()
        #expect(result.status == 0 && result.text == "access-1\n", "\(result.messages)")
    }

    // MARK: - Servers that take their time

    @Test("A server that does not answer is given up after the time that was set", arguments: [true, false])
    func timeout(isOption: Bool) throws {
        let process = try home.start(
            ["token", "refresh", "work"] + (isOption ? ["--refresh-timeout", "1"] : []), leadsGroup: true,
            variables: isOption ? [:] : ["CRUMB_REFRESH_TIMEOUT_SECONDS": "1"])
        try server.awaitRequest()
        process.send(SIGTERM, toGroup: true)
        // The signal takes effect when the time is over, without an answer.
        let result = process.wait()
        #expect(result.status == -SIGTERM && result.messages.contains("a login is being renewed"), "\(result.messages)")
        server.answer()
        let late = try home.start(
            ["token", "refresh", "work", "--refresh-timeout", "1"], variables: ["CRUMB_REFRESH_TIMEOUT_SECONDS": "600"])
        try server.awaitRequest()
        let given = late.wait()
        #expect(given.status == 45 && given.messages.contains("did not answer in time"), "\(given.messages)")
        #expect(given.messages.contains("The refresh was sent"), "\(given.messages)")
        server.answer()
    }

    @Test("A body that stops after the new refresh token loses nothing when the time is over")
    func halfABody() throws {
        server.breaksOff()
        let process = try home.start(["token", "refresh", "work", "--refresh-timeout", "1"])
        try server.awaitRequest()
        server.answer()
        #expect(process.wait().status == 46)
        server.endConnection()
        let next = try home.start(["token", "refresh", "work"])
        try server.awaitRequest()
        server.answer()
        #expect(next.wait().status == 0 && server.isAlive)
        #expect(try stored() == "refresh-2")
    }

    @Test(
        "A time that is none is refused before anything is sent",
        arguments: [(["--refresh-timeout", "0"], nil, 64), ([], "soon", 47), ([], "3601", 47)])
    func badTime(option: [String], variable: String?, status: Int32) throws {
        let result = try home.start(
            ["token", "refresh", "work"] + option, variables: ["CRUMB_REFRESH_TIMEOUT_SECONDS": variable]
        ).wait()
        #expect(result.status == status, "\(result.messages)")
        #expect(result.messages.contains(variable == nil ? "--refresh-timeout" : "CRUMB_REFRESH_TIMEOUT_SECONDS"))
    }

    // MARK: - The service

    @Test("A service that is stopped waits for the server's response, whatever its callers do", arguments: signals)
    func service(signal: Int32) throws {
        let messages = try TalkPipe(home.file("messages"))
        let socket = home.file("s")
        let service = try home.start(
            ["serve", "--socket", socket], messages: messages.path, leadsGroup: true,
            variables: ["CRUMB_LIMITS_SHUTDOWN_SECONDS": "1"])
        try #require(messages.says("Listening"))
        let caller = try home.start(
            ["token", "refresh", "work", "--service", "unix:\(socket)"], variables: ["CRUMB_DATABASE": nil])
        try server.awaitRequest()
        service.send(signal, toGroup: true)
        #expect(messages.says("waiting for responses to token refreshes"))
        service.send(signal, toGroup: true)
        server.answer()
        #expect(service.wait().status == 0)
        _ = caller.wait()
        #expect(try stored() == "refresh-1")
        let refused = try home.crumb(
            "token", "refresh", "work", "--refresh-timeout", "9", "--service", "unix:\(socket)",
            variables: ["CRUMB_DATABASE": nil])
        #expect(refused.status == 64 && refused.messages.contains("refresh.timeoutSeconds"), "\(refused.messages)")
    }
}

/// A server that takes each refresh token once, and keeps its answers to itself until the test says so.
private final class HoldingServer: Sendable {
    private struct State {
        var number = 0
        var isAlive = true
        var breaksOff = false
        var isHolding = true
    }

    private struct NothingCame: Error {}

    private final class Gate: Sendable {
        let state = Mutex(State())
        let requests = DispatchSemaphore(value: 0)
        let answers = DispatchSemaphore(value: 0)
        let connections = DispatchSemaphore(value: 0)
    }

    private let gate = Gate()
    private let server: LoopbackServer

    init() throws {
        let gate = gate
        server = try LoopbackServer(
            afterAnswer: {
                if gate.state.withLock({ $0.breaksOff }) { gate.connections.wait() }
            },
            { request in
                let form = String(decoding: request.body, as: UTF8.self)
                let response = gate.state.withLock { state -> LoopbackServer.Response in
                    state.isAlive = state.isAlive && form.contains("refresh_token=refresh-\(state.number)")
                    guard state.isAlive else {
                        return LoopbackServer.Response(400, body: #"{"error":"invalid_grant"}"#)
                    }
                    state.number += 1
                    let body =
                        #"{"refresh_token":"refresh-\#(state.number)","access_token":"access-\#(state.number)","#
                        + #""expires_in":3600}"#
                    guard state.breaksOff else { return LoopbackServer.Response(body: body) }
                    var response = LoopbackServer.Response(body: String(body.dropLast(20)))
                    response.missingByteCount = 20
                    return response
                }
                if gate.state.withLock({ $0.isHolding }) {
                    gate.requests.signal()
                    gate.answers.wait()
                }
                return response
            })
    }

    var endpoint: String { "http://127.0.0.1:\(server.port)/token" }

    /// Whether no refresh token came twice.
    var isAlive: Bool { gate.state.withLock { $0.isAlive } }

    /// Waits until a refresh has arrived; the server has ended its refresh token.
    func awaitRequest() throws {
        // A test that fails should end all the same.
        guard gate.requests.wait(timeout: .now() + 300) == .success else { throw NothingCame() }
    }

    /// Whether answers wait for the test.
    func holds(_ isHolding: Bool) { gate.state.withLock { $0.isHolding = isHolding } }

    /// Lets one answer go.
    func answer() { gate.answers.signal() }

    /// Has the next answer stop in its middle, on a connection that stays open.
    func breaksOff() { gate.state.withLock { $0.breaksOff = true } }

    /// Ends the connection that was left open.
    func endConnection() {
        gate.state.withLock { $0.breaksOff = false }
        gate.connections.signal()
    }
}
