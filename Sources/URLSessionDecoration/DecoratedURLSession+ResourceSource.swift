public import CookieModel
import Foundation
public import HTTPTypes
public import RequestDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension DecoratedURLSession: ResourceSource {
    /// Requests a resource for a scheme handler. The whole body is in memory.
    public func resource(for request: HTTPRequest, in context: RequestContext) async throws -> ResourceResponse {
        guard let url = URL(string: context.url.description) else { throw URLError(.badURL) }
        var message = URLRequest(url: url)
        message.httpMethod = request.method.rawValue
        for field in request.headerFields { message.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        let exchange = try await exchange(for: message, in: context)
        let answer = exchange.payload
        var head = HTTPResponse(status: HTTPResponse.Status(code: answer.response.statusCode))
        for (name, value) in answer.response.allHeaderFields {
            guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String
            else { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        // Foundation has removed the coding of the body.
        head.headerFields[.contentEncoding] = nil
        head.headerFields[.contentLength] = request.method == .head ? nil : String(answer.data.count)
        return ResourceResponse(head, from: exchange.hops.map(\.url), body: Array(answer.data))
    }
}
