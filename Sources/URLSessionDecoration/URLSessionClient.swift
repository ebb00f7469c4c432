import CookieModel
import Foundation
import HTTPCaching
import RequestDecoration
import ResponseStore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A URLSession as a client of one hop, which may have a jar's cache.
struct URLSessionClient: CachingClient {
    let session: OpenSession
    let hop: RedirectChain
    /// The file that is the body of requests; `nil` for their own bodies.
    var file: URL?

    func send(_ request: URLRequest) async throws -> URLSessionAnswer {
        let transfer = session.begin(request, file: file)
        let response = try await transfer.head()
        let head = ResponseHead(response)
        guard !hop.discards(head) else {
            // So that the redirect can be stored, too.
            let body = try? await transfer.data(upTo: Self.discardedByteCount)
            return URLSessionAnswer(data: body ?? Data(), response: response, hasBody: body != nil)
        }
        do {
            return URLSessionAnswer(data: try await transfer.data() ?? Data(), response: response)
        } catch {
            throw BrokenResponse(
                head, fields: fields(of: response).lines.map { ($0.name, $0.value) }, reason: error)
        }
    }

    func failure(_ error: any Error) -> CacheExchange.Failure? {
        switch (error as? URLError)?.code {
        // A certificate that is not trusted is that of a portal that wants the user to sign in to the network.
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive, .cannotFindHost,
            .dnsLookupFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            .networkLost
        case .cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed, .timedOut: .disconnected
        default: nil
        }
    }

    func hasBody(_ request: URLRequest) -> Bool {
        file != nil || request.httpBody != nil || request.httpBodyStream != nil
    }

    func fields(of request: URLRequest) -> MessageFields {
        MessageFields(
            (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map {
                MessageFields.Field(Octets($0.key), Octets($0.value))
            })
    }

    func replacing(_ request: URLRequest, fields: MessageFields) -> URLRequest {
        var request = request
        for name in (request.allHTTPHeaderFields ?? [:]).keys { request.setValue(nil, forHTTPHeaderField: name) }
        for field in fields.lines {
            request.addValue(HeaderText.text(field.value), forHTTPHeaderField: HeaderText.text(field.name))
        }
        return request
    }

    /// The fields of a response, as they describe the body that Foundation passes on.
    func fields(of response: HTTPURLResponse) -> MessageFields {
        var fields = MessageFields(
            response.allHeaderFields.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return MessageFields.Field(Octets(name), HeaderText.octets(received: value))
            })
        // Foundation has removed the coding of the body, and not the fields that describe it.
        if fields.has("content-encoding") {
            fields.remove("content-encoding")
            fields.remove("content-length")
        }
        return fields
    }

    func received(_ answer: URLSessionAnswer) -> ReceivedHead {
        let fields = fields(of: answer.response)
        let length = fields.values("content-length").first.flatMap { Int64($0.description) }
        let isWhole = answer.hasBody && (length == nil || length == Int64(answer.data.count))
        return ReceivedHead(ResponseHead(answer.response), fields: fields, bodyLength: length, mayStore: isWhole)
    }

    func response(
        _ answer: CacheExchange.Answer, to request: URLRequest, status: Octets
    ) async throws -> URLSessionAnswer {
        let data = Data(try await answer.body?.octets() ?? [])
        return try URLSessionAnswer(answer.head, data, to: request.url, cacheStatus: status)
    }

    func passed(
        _ answer: URLSessionAnswer, after beginning: CacheExchange.Answer?, in exchange: CacheExchange,
        now: @escaping @Sendable () -> Timestamp
    ) async throws -> URLSessionAnswer {
        guard let beginning else {
            await store(answer, in: exchange, now: now)
            return URLSessionAnswer(
                data: answer.data, response: answer.response, cacheStatus: exchange.statusField.description)
        }
        let whole = URLSessionAnswer(
            data: Data(try await beginning.body?.octets() ?? []) + answer.data, response: answer.response)
        await store(whole, in: exchange, now: now)
        return try URLSessionAnswer(
            beginning.head, whole.data, to: answer.response.url, cacheStatus: exchange.statusField)
    }

    func store(_ answer: URLSessionAnswer, in exchange: CacheExchange, now: @Sendable () -> Timestamp) async {
        await exchange.append(Array(answer.data), now: now())
        await exchange.finish(now: now())
    }

    func discard(_ answer: URLSessionAnswer) async {}
}

extension URLSessionAnswer {
    /// A stored response.
    fileprivate init(_ head: StoredAnswer, _ data: Data, to url: URL?, cacheStatus: Octets) throws {
        var fields: [String: String] = [:]
        for field in head.fields.lines {
            let name = HeaderText.text(field.name)
            let value = HeaderText.received(field.value)
            // Foundation has one text for each name.
            fields[name] = fields[name].map { "\($0), \(value)" } ?? value
        }
        guard let url,
            let response = HTTPURLResponse(
                url: url, statusCode: head.status, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw URLError(.badServerResponse) }
        self.init(data: data, response: response, cacheStatus: cacheStatus.description)
    }
}

extension RequestCachePolicy {
    /// The policy of the same name.
    init(_ policy: URLRequest.CachePolicy) {
        self =
            switch policy {
            case .reloadIgnoringLocalCacheData: .reloadIgnoringLocalCacheData
            case .reloadIgnoringLocalAndRemoteCacheData: .reloadIgnoringLocalAndRemoteCacheData
            case .returnCacheDataElseLoad: .returnCacheDataElseLoad
            case .returnCacheDataDontLoad: .returnCacheDataDontLoad
            case .reloadRevalidatingCacheData: .reloadRevalidatingCacheData
            case .useProtocolCachePolicy: .useProtocolCachePolicy
            @unknown default: .useProtocolCachePolicy
            }
    }
}
