import Foundation
import HTTPTypes
import NetworkHelper
import OAuth2
import SessionOperations

/// The status and fields of a service's answer.
struct ServiceResponseHead {
    let status: Int
    let fields: [HelperRequest.Field]
}

/// Nobody has answered, or not to the end.
struct UnreachableService: Error {
    /// Why: a clause.
    let reason: String
}

/// The program beside `crumb` that speaks HTTP for it.
struct NetworkProgram {
    private static let name = "crumb-network"

    let path: String

    /// Finds the program: beside this one, as both are built and installed together, else on the search path.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let beside = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
        let folders = [beside].compactMap(\.self) + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { "\($0)/\(NetworkProgram.name)" }
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Problem(
                .networkProgramNotFound,
                "\(NetworkProgram.name) was found neither beside crumb nor on PATH; install both together")
        }
        self.path = path
    }

    /// Asks the program, and waits for its answer.
    ///
    /// - Parameter endsWithAsker: whether the program lives exactly as long as this one waits: the end of its input ends
    ///   it, and no signal does.
    func ask<Question: Codable, Answer: Codable>(
        _ subcommand: String, _ question: HelperMessage<Question>, endsWithAsker: Bool = false
    ) throws -> HelperMessage<Answer> {
        let output = Output()
        var process = ChildProcess(program: path, failure: .networkProgramNotFound)
        try process.setStandardInput(contents: try question.bytes, staysOpen: endsWithAsker)
        if endsWithAsker { process.blockedSignals = ExchangeQuestion.deferredSignals }
        try process.capture(STDOUT_FILENO) { output.bytes += $0 }
        let status = try process.run([Array(subcommand.utf8)])
        guard status == 0, let answer = HelperMessage<Answer>(parsing: output.bytes) else {
            throw Problem(.networkProgramNotFound, "\(path): it has failed, or belongs to another version of crumb")
        }
        return answer
    }

    /// Has the program send a request to a service, whose body and answer pass through as they come.
    ///
    /// - Parameters:
    ///   - next: gives the next bytes of the body; none at its end.
    ///   - response: is given the answer's status and fields, then `consume` its body.
    func call(
        _ call: ServiceCall, next: @escaping () throws -> [UInt8]?,
        response: @escaping (Result<ServiceResponseHead, UnreachableService>) throws -> Void,
        consume: @escaping ([UInt8]) throws -> Void
    ) throws {
        let output = Output()
        var process = ChildProcess(program: path, failure: .networkProgramNotFound)
        try process.setStandardInput(contents: try HelperMessage(call).bytes, next: next)
        try process.capture(STDOUT_FILENO) { bytes in
            guard !output.hasHead else { return try consume(bytes) }
            output.bytes += bytes
            guard let message = HelperMessage<HelperAnswer>(parsing: output.bytes) else { return }
            output.hasHead = true
            switch message.head {
            case .settingsInvalid(let reason):
                throw Problem(.tokenSettingsInvalid, "a setting on this machine cannot be used: \(reason)")
            case .failure(let reason): try response(.failure(UnreachableService(reason: reason)))
            case .response(let status, let fields):
                try response(.success(ServiceResponseHead(status: status, fields: fields)))
                try consume(message.body)
            }
        }
        let status = try process.run([Array("call".utf8)])
        guard output.hasHead else {
            throw Problem(.networkProgramNotFound, "\(path): it has failed, or belongs to another version of crumb")
        }
        guard status == 0 else {
            try response(
                .failure(UnreachableService(reason: "the connection was closed in the middle of the response")))
            return
        }
    }

    private final class Output {
        var bytes: [UInt8] = []
        /// Whether the line of JSON was read.
        var hasHead = false
    }
}

/// Has the program beside `crumb` send requests to authorization servers, over pipes that only the two can read.
struct HelperTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        // On a thread that may wait: those that all tasks share would keep the lease's renewal waiting, too.
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Result { try HelperTransport.answer(to: request) })
            }
        }
        switch result {
        case .success(let answer): return try answer.response(to: request)
        case .failure(let error):
            throw OAuth2Error(unreachable: (error as? Problem)?.message ?? "the request cannot be passed on")
        }
    }

    private static func answer(to request: EndpointRequest) throws -> HelperMessage<HelperAnswer> {
        try NetworkProgram().ask("exchange", HelperMessage<ExchangeQuestion>(request), endsWithAsker: true)
    }
}

/// The signature of an ID token, which the program beside `crumb` checks.
enum IDTokenSignature {
    /// Checks that one of the keys in a server's reply has signed the token.
    ///
    /// - Throws: `OAuth2Error` where none has; `Problem` where that cannot be found out.
    static func check(_ token: Secret, keys response: EndpointResponse) throws {
        let question = SignatureQuestion(
            keysStatus: response.status.code, keys: Data(response.exposedBody), token: Data(token.exposedBytes))
        let answer: HelperMessage<SignatureAnswer> = try NetworkProgram().ask(
            "verify-id-token", HelperMessage(question))
        if case .refused(let sentence) = answer.head { throw OAuth2Error(refusedIDToken: sentence) }
    }
}
