import AsyncHTTPClientTransport
import Foundation
import HTTPTypes
import SessionClient

@main
struct Client {
    static func main() async throws {
        let variables = ProcessInfo.processInfo.environment
        guard let address = variables["CRUMB_SERVICE"], let file = variables["CRUMB_SERVICE_TOKEN_FILE"] else { return }
        let token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let client = SessionClient(try SessionAddress(address), token: token, over: HTTPClientTransport())
        let jar = CommandLine.arguments[1]

        _ = try await client.answer(to: .putJar(jar))
        let login = HTTPResponse(status: .ok, headerFields: [.setCookie: "sid=1; Path=/; Secure"])
        try await client.receive(login, to: "https://www.example.com/login", in: jar)

        let request = DecorateDocument(url: "https://www.example.com/")
        let answer = try await client.answer(to: .decorate(request, in: jar))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(answer), as: UTF8.self), terminator: "")
    }
}
