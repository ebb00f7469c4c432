/// A form-encoded request body while it is put together.
struct FormBody {
    private var bytes: [UInt8] = []

    /// An empty body.
    init() {}

    /// What a server is to do something about: a token, and which one it is (RFC 7009, RFC 7662, section 2.1 of both).
    init(about token: Secret, _ kind: TokenKind) {
        append("token", token)
        append("token_type_hint", kind.rawValue)
    }

    mutating func append(_ name: String, _ value: String) {
        append(name, encoded: FormEncoding.encode(value))
    }

    mutating func append(_ name: String, _ value: Secret) {
        append(name, encoded: FormEncoding.encode(value))
    }

    /// The scopes to ask for, unless there are none.
    mutating func append(_ scopes: Scopes?) {
        if let scopes, !scopes.isEmpty { append("scope", scopes.description) }
    }

    /// The resources that the token is for (RFC 8707, section 2).
    mutating func append(resources: [String]) {
        for resource in resources { append("resource", resource) }
    }

    /// The body, which holds secrets and therefore is one.
    var secret: Secret { Secret(bytes) }

    /// The parameters as a URL's query.
    var query: String { String(decoding: bytes, as: UTF8.self) }

    private mutating func append(_ name: String, encoded value: [UInt8]) {
        if !bytes.isEmpty { bytes.append(0x26) }
        bytes += FormEncoding.encode(name)
        bytes.append(0x3D)
        bytes += value
    }
}
