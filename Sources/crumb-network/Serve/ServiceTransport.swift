import HTTPTypes
import NetworkHelper
import OAuth2

/// Sends the service's requests to authorization servers.
struct ServiceTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let head = request.exposedHead
        let message = HelperMessage(
            HelperRequest(
                method: head.method.rawValue, url: request.endpoint.description,
                fields: head.headerFields.map { HelperRequest.Field(name: $0.name.rawName, value: $0.value) }),
            body: request.exposedBody)
        let answer = await HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1).answer(message)
        switch answer.head {
        case .failure(let reason): throw OAuth2Error(unreachable: "\(request.endpoint.authority): \(reason)")
        case .response(let status, let fields):
            return EndpointResponse(
                status: HTTPResponse.Status(code: status),
                fields: HTTPFields(
                    fields.compactMap { field in
                        HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
                    }),
                body: answer.body)
        }
    }
}
