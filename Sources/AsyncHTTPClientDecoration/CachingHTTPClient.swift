import AsyncHTTPClient
import CookieModel
import HTTPCaching
import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
import RequestDecoration
import ResponseStore

/// An HTTPClient as a client that has a jar's cache.
struct CachingHTTPClient: CachingClient {
    let client: HTTPClient
    let timeout: TimeAmount

    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let response = try await client.execute(request, timeout: timeout)
        guard response.history.count <= 1 else { throw ClientRedirectsError() }
        return response
    }

    func failure(_ error: any Error) -> CacheExchange.Failure? {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .tlsHandshakeTimeout: .networkLost
            case .remoteConnectionClosed, .deadlineExceeded, .readTimeout, .uncleanShutdown: .disconnected
            default: nil
            }
        // Without an address, or without a way to it, there is no network.
        case let error as NIOConnectionError:
            error.connectionErrors.allSatisfy { isUnroutable($0.error) } ? .networkLost : .disconnected
        case is ChannelError, is IOError: isUnroutable(error) ? .networkLost : .disconnected
        default: nil
        }
    }

    private func isUnroutable(_ error: any Error) -> Bool {
        guard let code = (error as? IOError)?.errnoCode else { return false }
        return code == ENETUNREACH || code == EHOSTUNREACH || code == ENETDOWN
    }

    func hasBody(_ request: HTTPClientRequest) -> Bool { request.body != nil }

    func fields(of request: HTTPClientRequest) -> MessageFields { MessageFields(request.headers) }

    func replacing(_ request: HTTPClientRequest, fields: MessageFields) -> HTTPClientRequest {
        var request = request
        request.headers = HTTPHeaders(fields)
        return request
    }

    func received(_ response: HTTPClientResponse) -> ReceivedHead {
        let fields = MessageFields(response.headers)
        let length = fields.values("content-length").first.flatMap { Int64($0.description) }
        let hasEnd = length != nil || fields.has("transfer-encoding") || response.version == .http2
        // The client may remove a coding of the body, and does not tell.
        return ReceivedHead(
            ResponseHead(response), fields: fields, bodyLength: length,
            mayStore: hasEnd && !fields.has("content-encoding"))
    }

    func response(
        _ answer: CacheExchange.Answer, to request: HTTPClientRequest, status: Octets
    ) async throws -> HTTPClientResponse {
        HTTPClientResponse(answer.head, PassedBody(stored: answer.body), cacheStatus: status)
    }

    func passed(
        _ response: HTTPClientResponse, after beginning: CacheExchange.Answer?, in exchange: CacheExchange,
        now: @escaping @Sendable () -> Timestamp
    ) async throws -> HTTPClientResponse {
        let body = PassedBody(
            stored: beginning?.body, rest: response.body, storing: await exchange.isStoring ? exchange : nil, now: now)
        if let beginning { return HTTPClientResponse(beginning.head, body, cacheStatus: exchange.statusField) }
        var response = response
        if body.storing != nil { response.body = .stream(body) }
        response.headers.add(name: "Cache-Status", value: exchange.statusField.description)
        return response
    }

    func store(_ response: HTTPClientResponse, in exchange: CacheExchange, now: @Sendable () -> Timestamp) async {
        do {
            for try await piece in response.body {
                guard await exchange.isStoring else { return }
                await exchange.append(Array(piece.readableBytesView), now: now())
            }
            await exchange.finish(now: now())
        } catch {
            await exchange.breakOff(now: now())
        }
    }

    func discard(_ response: HTTPClientResponse) async {
        var count = 0
        do {
            for try await piece in response.body {
                count += piece.readableBytes
                if count > Self.discardedByteCount { return }
            }
        } catch {
            // The connection is gone.
        }
    }
}

/// A body for the caller: what is stored of it, then what the server sends, which is stored while it is read.
private struct PassedBody: AsyncSequence, Sendable {
    let stored: StoredBody?
    var rest: HTTPClientResponse.Body?
    var storing: CacheExchange?
    var now: @Sendable () -> Timestamp = { .distantPast }

    struct AsyncIterator: AsyncIteratorProtocol {
        var stored: StoredBody?
        // Only this iterator uses it, one call after the other. The client's iterator is called off the caller's actor.
        nonisolated(unsafe) var rest: HTTPClientResponse.Body.AsyncIterator?
        let storing: CacheExchange?
        let now: @Sendable () -> Timestamp

        mutating func next() async throws -> ByteBuffer? {
            do {
                if let octets = try await stored?.pieces().joined().map(\.self), !octets.isEmpty {
                    await storing?.append(octets, now: now())
                    return ByteBuffer(bytes: octets)
                }
                stored = nil
                let piece = try await rest?.next()
                guard let piece else {
                    rest = nil
                    await storing?.finish(now: now())
                    return nil
                }
                await storing?.append(Array(piece.readableBytesView), now: now())
                return piece
            } catch {
                await storing?.breakOff(now: now())
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stored: stored, rest: rest?.makeAsyncIterator(), storing: storing, now: now)
    }
}

extension HTTPClientResponse {
    /// A stored response.
    fileprivate init(_ head: StoredAnswer, _ body: PassedBody, cacheStatus: Octets) {
        self.init(
            status: HTTPResponseStatus(statusCode: head.status), headers: HTTPHeaders(head.fields),
            body: .stream(body))
        headers.add(name: "Cache-Status", value: cacheStatus.description)
    }
}

extension MessageFields {
    /// The fields of a message.
    fileprivate init(_ headers: HTTPHeaders) {
        self.init(headers.map { Field(Octets($0.name), Octets($0.value)) })
    }
}

extension HTTPHeaders {
    /// The fields as text.
    fileprivate init(_ fields: MessageFields) {
        self.init(
            fields.lines.map { (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) })
    }
}
