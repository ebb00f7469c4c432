import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@main
struct Client {
    static func ask(_ method: String, _ path: String, _ document: some Encodable) async throws -> String {
        let variables = ProcessInfo.processInfo.environment
        guard let base = variables["CRUMB_SERVICE"], let file = variables["CRUMB_SERVICE_TOKEN_FILE"],
            let url = URL(string: base + path)
        else { throw URLError(.badURL) }
        let token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(document)
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) else {
            throw URLError(.badServerResponse)
        }
        return String(decoding: data, as: UTF8.self)
    }

    struct Received: Encodable {
        let url: String
        let headers: [[String: String]]
    }

    static func main() async throws {
        let jar = CommandLine.arguments[1]
        _ = try await ask("PUT", "/v1/jars/\(jar)", [String: String]())
        let field = ["name": "Set-Cookie", "value": "sid=1; Path=/; Secure"]
        let login = Received(url: "https://www.example.com/login", headers: [field])
        _ = try await ask("POST", "/v1/jars/\(jar)/responses", login)
        print(try await ask("POST", "/v1/jars/\(jar)/decorate", ["url": "https://www.example.com/"]), terminator: "")
    }
}
