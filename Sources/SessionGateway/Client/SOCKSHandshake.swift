import NIOCore
import WebPrimitives

/// The messages of SOCKS version 5 that open a connection (RFC 1928).
enum SOCKSHandshake {
    /// The version octet. No HTTP request begins with it.
    static let version: UInt8 = 5

    /// The version octet of SOCKS 4, and the reply that refuses it.
    static let formerVersion: UInt8 = 4
    static let formerRefusal: [UInt8] = [0, 0x5B, 0, 0, 0, 0, 0, 0]

    /// The replies of section 6.
    enum Reply: UInt8 {
        case succeeded = 0
        case generalFailure = 1
        case notAllowed = 2
        case hostUnreachable = 4
        case connectionRefused = 5
        case commandNotSupported = 7
        case addressTypeNotSupported = 8

        init(_ failure: GatewayFailure) {
            switch failure.kind {
            case .destinationIPProhibited: self = .notAllowed
            case .dnsError, .connectionTimeout: self = .hostUnreachable
            case .connectionRefused: self = .connectionRefused
            default: self = .generalFailure
            }
        }

        /// The message, with an unspecified address.
        var octets: [UInt8] { [version, rawValue, 0, 1, 0, 0, 0, 0, 0, 0] }
    }

    /// The methods of section 3: none, and name and password (RFC 1929).
    private static let noMethod: UInt8 = 0
    private static let passwordMethod: UInt8 = 2

    /// Reads the greeting from a client, and answers it. Signs the client in if there are users.
    ///
    /// - Parameter deadline: When the whole handshake has to have ended.
    /// - Returns: Whether the client may continue, and as which user; `nil` if it does not continue.
    static func signIn(
        _ client: ByteStream, by deadline: NIODeadline, as users: ClientUsers?
    ) async throws -> (isPermitted: Bool, place: ClientUsers.Place?)? {
        // Section 3: version, number of methods, methods.
        guard let greeting = try await client.octets(2, by: deadline),
            let methods = try await client.octets(Int(greeting[1]), by: deadline)
        else { return nil }
        let method = users == nil ? noMethod : passwordMethod
        guard methods.contains(method) else {
            try await client.write(ByteBuffer(bytes: [version, 0xFF]))
            return (false, nil)
        }
        try await client.write(ByteBuffer(bytes: [version, method]))
        guard let users else { return (true, nil) }
        // RFC 1929: version, length of the name, name, length of the password, password.
        guard let beginning = try await client.octets(2, by: deadline), beginning[0] == 1,
            let name = try await client.octets(Int(beginning[1]), by: deadline),
            let count = try await client.octets(1, by: deadline),
            let secret = try await client.octets(Int(count[0]), by: deadline)
        else { return nil }
        let place = users.place(name, secret)
        try await client.write(ByteBuffer(bytes: [1, place == nil ? 1 : 0]))
        return (place != nil, place)
    }

    /// Reads the request of a client that is signed in.
    ///
    /// - Parameter deadline: When the whole handshake has to have ended.
    /// - Returns: The destination of the connection; `nil` if the client does not continue, or was refused.
    static func destination(
        from client: ByteStream, by deadline: NIODeadline
    ) async throws -> ForwardedRequest.Destination? {
        // Section 4: version, command, a reserved octet, address type, address, port.
        guard let request = try await client.octets(4, by: deadline), request[0] == version else { return nil }
        guard request[1] == 1 else {
            try await client.write(ByteBuffer(bytes: Reply.commandNotSupported.octets))
            return nil
        }
        let host: WebHost?
        switch request[3] {
        case 1:
            guard let address = try await client.octets(4, by: deadline) else { return nil }
            host = WebHost(address.map(String.init).joined(separator: "."))
        case 3:
            guard let count = try await client.octets(1, by: deadline),
                let name = try await client.octets(Int(count[0]), by: deadline)
            else { return nil }
            host = WebHost(Octets(name))
        case 4:
            guard let address = try await client.octets(16, by: deadline) else { return nil }
            let groups = stride(from: 0, to: 16, by: 2).map {
                String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16)
            }
            host = WebHost("[\(groups.joined(separator: ":"))]")
        default: host = nil
        }
        guard let host, let port = try await client.octets(2, by: deadline) else {
            try await client.write(ByteBuffer(bytes: Reply.addressTypeNotSupported.octets))
            return nil
        }
        return ForwardedRequest.Destination(host: host, port: UInt16(port[0]) << 8 | UInt16(port[1]))
    }
}
