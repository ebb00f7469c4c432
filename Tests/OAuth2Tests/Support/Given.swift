import HTTPTypes
import OAuth2

/// What most tests begin with.
enum Given {
    static let secret = Secret("s3cret-of-the-client")
    static let authentication = ClientAuthentication.clientSecretPost(clientID: "app", secret: secret)

    static func endpoint(_ path: String = "/token") throws -> EndpointURL {
        try EndpointURL("https://id.example\(path)")
    }

    static func response(
        _ body: String, status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields()
    ) -> EndpointResponse {
        EndpointResponse(status: status, fields: fields, body: Array(body.utf8))
    }

    /// A body's parameters, in order.
    static func form(_ request: EndpointRequest) -> [String] {
        String(decoding: request.exposedBody, as: UTF8.self).split(separator: "&").map(String.init)
    }
}

/// Answers as a test says, and remembers what it was asked.
actor ScriptedTransport: EndpointTransport {
    typealias Answer = @Sendable (EndpointRequest) throws(OAuth2Error) -> EndpointResponse

    private let answer: Answer
    private(set) var requests: [EndpointRequest] = []

    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        requests.append(request)
        return try answer(request)
    }
}

/// Random numbers that are none: the same ones each time.
struct CountingGenerator: RandomNumberGenerator {
    private var state: UInt64 = 0

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state
    }
}
