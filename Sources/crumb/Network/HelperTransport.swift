import HTTPTypes
import NetworkHelper
import OAuth2

/// Has the program beside `crumb` send requests to authorization servers, over pipes that only the two can read.
struct HelperTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let answer: HelperMessage<HelperAnswer>
        do {
            answer = try NetworkProgram().ask("exchange", HelperTransport.message(request))
        } catch {
            throw OAuth2Error(unreachable: (error as? Problem)?.message ?? "the request cannot be passed on")
        }
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

    private static func message(_ request: EndpointRequest) -> HelperMessage<HelperRequest> {
        let head = request.exposedHead
        let fields = head.headerFields.map { HelperRequest.Field(name: $0.name.rawName, value: $0.value) }
        return HelperMessage(
            HelperRequest(method: head.method.rawValue, url: request.endpoint.description, fields: fields),
            body: request.exposedBody)
    }
}
