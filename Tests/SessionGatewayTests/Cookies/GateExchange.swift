import HTTPMessages
import RequestDecoration
import WebPrimitives

@testable import SessionGateway

extension JarRequestPolicy {
    /// Passes a GET request and its response as a connection does.
    ///
    /// - Parameters:
    ///   - fields: header lines of the request other than `Host` and `Cookie`.
    ///   - cookies: the value of the Cookie field; empty for none.
    ///   - setCookie: the Set-Cookie lines of the response.
    /// - Returns: the decision on the request, and the Set-Cookie lines that the client gets.
    func exchange(
        _ url: String, fields: [String], cookies: String, setting setCookie: [Octets]
    ) async throws -> (decision: GatewayDecision, lines: [Octets]) {
        let target = try RequestURL(url)
        var text = ["GET \(target.path) HTTP/1.1", "Host: \(target.host)"] + fields
        if !cookies.isEmpty { text.append("Cookie: \(cookies)") }
        let head = try MessageHead(Array((text + ["", ""]).joined(separator: "\r\n").utf8), from: .client)
        let destination = ForwardedRequest.Destination(
            host: target.host, port: target.port, isEncrypted: target.scheme.isCryptographic)
        let request = try ForwardedRequest(
            head, try RequestLine(head.octets.span.extracting(head.startLine)), through: destination)
        let decision = try await decision(on: request)
        var answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".utf8)
        for line in setCookie { answer += Array("Set-Cookie: ".utf8) + line + Array("\r\n".utf8) }
        let response = try ForwardedResponse(
            MessageHead(answer + Array("\r\n".utf8), from: .server), toHead: false)
        if let context = decision.context { _ = try await store(response, in: context) }
        return (decision, response.setCookie.compactMap { line(for: request, inPlaceOf: $0) } + lines(decision))
    }
}
