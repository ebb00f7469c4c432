import Foundation
import NetworkHelper
import OAuth2

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
