import AsyncHTTPClient
import AsyncHTTPClientTransport
import CrumbCommands
import NIOCore
import SessionClient
import SessionOperations

/// Sends requests to a running service, by the settings of this machine, and tells failures in words for a user.
struct ServiceTransport: SessionTransport {
    /// How long the service may take for an answer: it reads a whole capture, or a whole jar, before it says a word.
    private static let patience = Duration.seconds(600)
    /// How long a stream of events may pause: several of the service's signs of life.
    private static let streamPause = TimeAmount.seconds(60)

    private let route: NetworkSettings.Route
    private let authorities: String

    /// - Parameter authorities: Certificates in PEM that are trusted besides the system's.
    /// - Throws: `CommandFailure` if a setting cannot be used.
    init(to address: SessionAddress, trusting authorities: String?) throws {
        self.authorities = authorities ?? ""
        do {
            if let authorities, NetworkSettings.certificates(inPEM: Array(authorities.utf8)).isEmpty {
                throw NetworkSettingsError("the certificates of `--service-ca` cannot be read; check the file")
            }
            route = try NetworkClients.shared.settings.route(to: address.base)
            _ = try NetworkClients.shared.settings.configuration(of: route)
        } catch let error as NetworkSettingsError {
            throw CommandFailure(.tokenSettingsInvalid, "a setting on this machine cannot be used: \(error.reason)")
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isStream = request.exposedFields.contains { $0.name == "Accept" && $0.value == "text/event-stream" }
        do {
            let client = try NetworkClients.shared.client(
                for: route,
                readTimeout: isStream ? ServiceTransport.streamPause : TimeAmount(ServiceTransport.patience),
                trusting: authorities)
            let response = try await HTTPClientTransport(client, timeout: ServiceTransport.patience).send(request)
            return TransportResponse(
                status: response.status, body: ServiceTransport.told(response.body))
        } catch let error where !(error is CancellationError) {
            throw Reason(
                description: HTTPExchange.reason(
                    error, by: route.proxy, advice: "add its authority with `--service-ca`"))
        }
    }

    private static func told(_ body: some AsyncSequence<[UInt8], any Error> & Sendable) -> SessionBytes {
        Body(bytes: body)
    }

    /// Why there is no answer, or not all of it: a clause.
    private struct Reason: Error, CustomStringConvertible {
        let description: String
    }

    /// The body of a response, whose failures are described in words.
    private struct Body<Bytes: AsyncSequence<[UInt8], any Error> & Sendable>: AsyncSequence, Sendable {
        let bytes: Bytes

        struct AsyncIterator: AsyncIteratorProtocol {
            var bytes: Bytes.AsyncIterator

            mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> [UInt8]? {
                do {
                    return try await bytes.next(isolation: actor)
                } catch let error where !(error is CancellationError) {
                    throw Reason(description: "the connection was closed in the middle of the response")
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(bytes: bytes.makeAsyncIterator())
        }
    }
}
