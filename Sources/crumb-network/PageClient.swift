import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CrumbCommands
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SessionGateway
import SessionOperations
import WebPrimitives

/// Sends the requests of pages through a gateway of this process. It trusts the gateway alone: no request gets past it.
struct PageClient: PageTransport {
    /// How long a response may pause.
    private static let pause = TimeAmount.seconds(60)
    /// How many octets of a page or a stylesheet are searched.
    private static let contentLimit = 16 << 20

    private let client: HTTPClient

    init(through access: GatewayJob.Access) throws {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(30), read: PageClient.pause)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        let (host, port) = PageClient.place(access.address)
        configuration.proxy = .server(host: host, port: port)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(NetworkSettings.certificates(inPEM: Array((access.authority ?? "").utf8)))
        configuration.tlsConfiguration = tls
        client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }

    /// Host and port of an address such as `127.0.0.1:8080`.
    private static func place(_ address: String) -> (host: String, port: Int) {
        guard let colon = address.lastIndex(of: ":") else { return (address, 0) }
        return (
            address[..<colon].filter { $0 != "[" && $0 != "]" }, Int(address[address.index(after: colon)...]) ?? 0
        )
    }

    func get(_ request: PageRequest) async throws -> PageResponse {
        var message = HTTPClientRequest(url: request.url.description)
        for field in request.fields { message.headers.add(name: field.name, value: field.value) }
        do {
            let response = try await client.execute(message, timeout: PageClient.pause)
            var octets = 0
            var content: [UInt8] = []
            for try await chunk in response.body {
                octets += chunk.readableBytes
                guard octets <= request.limit else { throw Failure("it is longer than --octets permits") }
                if request.wantsContent, content.count < PageClient.contentLimit { content += chunk.readableBytesView }
            }
            return PageResponse(
                status: Int(response.status.code), fields: response.headers.map { ($0.name, $0.value) },
                octets: octets,
                content: request.wantsContent
                    ? PageClient.decoded(content, encoding: response.headers.first(name: "content-encoding")) : nil)
        } catch let error where !(error is CancellationError || error is Failure) {
            // BoringSSL accepts no authority that is constrained to IP addresses, as the gateway's is.
            if request.url.host.isIPAddress, case .untrustedCertificate = TLSFailure(error) {
                throw Failure(
                    "the gateway's certificate for an IP address cannot be checked here; use a URL with the host's name"
                )
            }
            throw Failure(HTTPExchange.reason(error, by: nil))
        }
    }

    /// Content without its coding; `nil` if that is not known.
    private static func decoded(_ content: [UInt8], encoding: String?) -> [UInt8]? {
        switch encoding?.lowercased() {
        case nil, "", "identity": content
        case "gzip", "x-gzip", "deflate":
            ContentDecoder.decoded(content, encoding: encoding, limit: PageClient.contentLimit)
        default: nil
        }
    }

    func shutDown() async {
        try? await client.shutdown()
    }

    /// Why there is no response, or not all of it.
    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
