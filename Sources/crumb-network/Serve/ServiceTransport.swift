import NetworkHelper
import OAuth2

/// Sends the service's requests to authorization servers.
struct ServiceTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1)
        return try await exchange.answer(HelperMessage<ExchangeQuestion>(request)).response(to: request)
    }
}
