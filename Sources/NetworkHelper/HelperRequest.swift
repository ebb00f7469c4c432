package import Foundation

/// What `crumb` asks of `crumb-network`, on the latter's standard input: a line of JSON, and a body behind it.
///
/// It is full of secrets: it goes through a pipe that nobody else can read, and is never printed.
package struct HelperRequest: Codable, Sendable {
    /// A field of a message.
    package struct Field: Codable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let method: String
    package let url: String
    package let fields: [Field]

    package init(method: String, url: String, fields: [Field]) {
        self.method = method
        self.url = url
        self.fields = fields
    }
}

/// What `crumb-network` answers on its standard output: a line of JSON, and a body behind it.
package enum HelperAnswer: Codable, Sendable {
    /// A server has answered.
    case response(status: Int, fields: [HelperRequest.Field])
    /// Nobody has, and why: a clause without anything of the request.
    case failure(String)
    /// Nothing was sent, since a local setting cannot be used: a clause that names it.
    case settingsInvalid(String)
}

/// A key set of a server, and a token that one of the keys should have signed.
package struct SignatureQuestion: Codable, Sendable {
    package let keysStatus: Int
    package let keys: Data
    package let token: Data

    package init(keysStatus: Int, keys: Data, token: Data) {
        self.keysStatus = keysStatus
        self.keys = keys
        self.token = token
    }
}

/// Whether the token was signed by one of the keys.
package enum SignatureAnswer: Codable, Sendable {
    case verified
    /// It was not, or cannot be told to have been: one sentence, without anything of the token.
    case refused(String)
}
