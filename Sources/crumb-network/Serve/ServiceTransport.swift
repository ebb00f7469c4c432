import NetworkHelper
import OAuth2

/// Sends the service's requests to authorization servers.
struct ServiceTransport: EndpointTransport {
    let clients: NetworkClients

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1, by: clients)
        return try await exchange.answer(HelperMessage<ExchangeQuestion>(request)).response(to: request)
    }
}
