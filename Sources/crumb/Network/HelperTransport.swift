import NetworkHelper
import OAuth2

/// Has the program beside `crumb` send requests to authorization servers, over pipes that only the two can read.
struct HelperTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let answer: HelperMessage<HelperAnswer>
        do {
            answer = try NetworkProgram().ask("exchange", HelperMessage(request))
        } catch {
            throw OAuth2Error(unreachable: (error as? Problem)?.message ?? "the request cannot be passed on")
        }
        return try answer.response(to: request)
    }
}
