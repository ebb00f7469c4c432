package import Platform

/// The pages for a browser that comes back from a login, or requests something else at its address.
package enum LoopbackPage: Sendable {
    /// The login has ended, or cannot end here.
    case done
    case failed(reason: String)
    /// The terminal asks the user a question that decides how the login ends.
    case question
    case notThisLogin
    case notFound
    /// Another user of this machine asked for the page to log in on.
    case anotherUser
    /// Sends the browser on.
    case redirect(to: String)

    private func content(for program: String) -> (status: String, page: LoginPage) {
        switch self {
        case .done: ("200 OK", .done(by: program))
        case .failed(let reason): ("400 Bad Request", .failed(reason))
        case .question:
            ("200 OK", LoginPage("One question", "Answer the question in the terminal to complete this login."))
        case .notThisLogin: ("400 Bad Request", .notThisLogin(of: program))
        case .notFound:
            ("404 Not Found", LoginPage("Not found", "\(program) is waiting for a login at another address."))
        case .anotherUser:
            ("403 Forbidden", LoginPage("Not your login", "Another user of this machine began this login."))
        case .redirect: ("302 Found", LoginPage("Log in", "The login page opens."))
        }
    }

    /// The whole response.
    ///
    /// - Parameter program: The name that the user knows the program by.
    func response(of program: String) -> [UInt8] {
        let (status, page) = content(for: program)
        let body = Array(page.html.utf8)
        var lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"]
        if case .redirect(let url) = self { lines.append("Location: \(url)") }
        lines += LoginPage.fields.map { "\($0.name): \($0.value)" }
        return Array("\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8) + body
    }
}

/// The user at the other end of a connection within this machine.
///
/// Everybody on a machine can connect to a loopback address. Linux lists the owner of each end of a connection.
package enum LoopbackPeer {
    /// The user who opened a connection that was accepted here; `nil` if the system does not tell.
    static func user(of connection: Int32) -> uid_t? {
        guard let peer = address(connection, getpeername), let own = address(connection, getsockname) else {
            return nil
        }
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let file = try? Descriptor(opening: table, O_RDONLY) else { continue }
            defer { file.close() }
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while let count = try? file.read(into: &buffer), count > 0 {
                var lines = (rest + buffer[..<count]).split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                rest = lines.popLast().map(Array.init) ?? []
                for line in lines {
                    if let user = user(in: String(decoding: line, as: UTF8.self), from: peer, to: own) { return user }
                }
            }
        }
        return nil
    }

    /// The owner of a socket in a line of `/proc/net/tcp` (proc_pid_net(5)), if it connects these two addresses.
    package static func user(in line: String, from peer: String, to own: String) -> uid_t? {
        let fields = line.split(separator: " ", maxSplits: 8, omittingEmptySubsequences: true)
        // An IPv4 address may be the end of an IPv6 address.
        guard fields.count > 7, fields[1].hasSuffix(peer), fields[2].hasSuffix(own) else { return nil }
        return uid_t(fields[7])
    }

    /// An address and port as the system's tables have them: words of the machine's own octet order, in hexadecimal.
    private static func address(
        _ connection: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage -> String? in
            let result = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(connection, $0, &length) }
            guard result == 0 else { return nil }
            switch Int32(storage.pointee.ss_family) {
            case AF_INET:
                return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    hexadecimal(address.pointee.sin_addr, address.pointee.sin_port)
                }
            case AF_INET6:
                return storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    hexadecimal(address.pointee.sin6_addr, address.pointee.sin6_port)
                }
            default: return nil
            }
        }
    }

    private static func hexadecimal<Address>(_ address: Address, _ port: in_port_t) -> String {
        let words = withUnsafeBytes(of: address) { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
        }
        return words.map { digits($0, count: 8) }.joined() + ":" + digits(UInt16(bigEndian: port), count: 4)
    }

    private static func digits(_ number: some UnsignedInteger, count: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}
