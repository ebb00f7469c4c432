import Foundation
import OAuth2

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Waits on a loopback address for the browser to come back from a login (RFC 8252, section 7.3).
///
/// One request at a time, small ones only; whatever is no answer to the login gets a page that says so, and the wait
/// goes on: any program on this machine, and any web page, can send requests here.
final class LoopbackRedirect {
    /// An answer that the browser brought; it waits for the page that says how the login ended.
    struct Arrival {
        /// Path and query.
        let target: String
        fileprivate let connection: Int32?

        /// Shows the user how the login ended.
        func finish(_ page: LoopbackPage) {
            guard let connection else { return }
            LoopbackRedirect.answer(connection, page)
        }
    }

    private static let maximumHeadSize = 16_384

    /// The redirect URI with the port that it really is.
    let redirectURI: String
    /// An address that sends who opens it to the page to log in on, once, for the argument list of a program that opens
    /// a browser: everybody on this machine may read that, and the page's own URL has in it what ties the login
    /// together.
    let opening: String
    private let path: String
    private let openingPath: String
    private var page: Page?
    /// Whether the terminal was told of an answer to another login.
    private var hasWarned = false
    private let listener: Int32

    /// The page that ``opening`` leads to.
    private enum Page {
        case unopened(String)
        case opened
    }

    /// Listens.
    ///
    /// - Parameter uri: `http`, a loopback address and a path; with port 0 or none, one that is free is taken.
    init(_ uri: String) throws {
        guard let (host, port, path) = LoopbackRedirect.parts(of: uri) else {
            throw Problem(
                .tokenSettingsInvalid,
                "\(uri): no URL that crumb can wait at; use http://127.0.0.1/path or http://[::1]/path")
        }
        self.path = path
        let isIPv6 = host == "[::1]"
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, LoopbackRedirect.streamType, 0)
        guard descriptor >= 0 else { throw LoopbackRedirect.problem(uri) }
        listener = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        let bound = isIPv6 ? LoopbackRedirect.bind6(descriptor, port) : LoopbackRedirect.bind4(descriptor, port)
        guard let bound else { throw LoopbackRedirect.problem(uri) }
        redirectURI = "http://\(host):\(bound)\(path)"
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        openingPath = "/login-\(secret.joined())"
        opening = "http://\(host):\(bound)\(openingPath)"
    }

    /// Has ``opening`` lead to a page, from now on.
    func offer(_ url: String) {
        page = .unopened(url)
    }

    deinit {
        close(listener)
    }

    /// Waits for the browser, or for a URL that the user pastes on standard input.
    ///
    /// - Parameters:
    ///   - readsInput: whether a line of standard input counts as the redirect.
    ///   - isMeant: whether an arrival belongs to this login; others are told that they do not.
    /// - Returns: `nil` where the time was up.
    /// - Throws: `Problem` where the page to log in on was opened twice: one of the two is not the user.
    func arrival(
        until deadline: ContinuousClock.Instant, readsInput: Bool, isMeant: (String) -> Bool
    ) throws -> Arrival? {
        var watched = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        if readsInput { watched.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)) }
        var line: [UInt8] = []
        while true {
            let left = deadline - .now
            guard left > .zero else { return nil }
            let milliseconds = min(left.components.seconds * 1000 + 1, 60_000)
            let count = poll(&watched, nfds_t(watched.count), Int32(milliseconds))
            guard count > 0 else { continue }
            if watched[0].revents != 0, let arrival = try accepted(isMeant) { return arrival }
            guard watched.count > 1, watched[1].revents != 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else {
                watched.removeLast()
                continue
            }
            guard byte == UInt8(ascii: "\n") else {
                if line.count < LoopbackRedirect.maximumHeadSize { line.append(byte) }
                continue
            }
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            line = []
            if isMeant(text) { return Arrival(target: text, connection: nil) }
            try? Console.write(
                Array("crumb: this is not the URL that the login ended at; paste all of it\n".utf8), to: STDERR_FILENO)
        }
    }

    private func accepted(_ isMeant: (String) -> Bool) throws -> Arrival? {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return nil }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        // Who connects and says nothing must not keep the browser out for long.
        var wait = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        guard let target = LoopbackRedirect.target(connection) else {
            close(connection)
            return nil
        }
        if target == openingPath, let page {
            try open(page, connection)
            return nil
        }
        guard target.prefix(while: { $0 != "?" }) == path else {
            LoopbackRedirect.answer(connection, .notFound)
            return nil
        }
        guard isMeant(target) else {
            LoopbackRedirect.answer(connection, .notThisLogin)
            // Once: whoever can send one such request can send many.
            if !hasWarned {
                hasWarned = true
                try? Console.write(
                    Array(
                        ("crumb: a browser brought the answer to another login (its state is another one); crumb still waits "
                            + "for the answer to this one\n").utf8), to: STDERR_FILENO)
            }
            return nil
        }
        return Arrival(target: target, connection: connection)
    }

    private func open(_ page: Page, _ connection: Int32) throws {
        switch page {
        case .unopened(let url):
            self.page = .opened
            LoopbackRedirect.answer(connection, .redirect(to: url))
        case .opened:
            LoopbackRedirect.answer(connection, .openedBefore)
            throw Problem(
                .loginFailed,
                "the page to log in on was opened twice; if it was not you, somebody on this machine tries to log in in "
                    + "your place. Log in again")
        }
    }

    /// The target of a GET request; `nil` for anything else.
    private static func target(_ connection: Int32) -> String? {
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        let end = Array("\r\n\r\n".utf8)
        while head.count < maximumHeadSize {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += buffer[..<count]
            guard head.firstRange(of: end) != nil else { continue }
            let words = head.prefix { $0 != 0x0D }.split(separator: 0x20)
            guard words.count == 3, words[0].elementsEqual("GET".utf8) else { return nil }
            return String(decoding: words[1], as: UTF8.self)
        }
        return nil
    }

    private static func answer(_ connection: Int32, _ page: LoopbackPage) {
        var octets = page.response
        while !octets.isEmpty {
            let count = send(connection, octets, octets.count, noSignal)
            guard count > 0 else { break }
            octets.removeFirst(count)
        }
        close(connection)
    }

    // MARK: - Addresses

    private static func parts(of uri: String) -> (host: String, port: UInt16, path: String)? {
        guard uri.hasPrefix("http://") else { return nil }
        let rest = uri.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        guard !path.contains(where: { $0 == "?" || $0 == "#" || $0 == " " }) else { return nil }
        for host in ["127.0.0.1", "[::1]"] where authority.hasPrefix(host) {
            let port = authority.dropFirst(host.count)
            if port.isEmpty { return (host, 0, path.isEmpty ? "/" : String(path)) }
            guard port.first == ":", let number = UInt16(port.dropFirst()) else { return nil }
            return (host, number, path.isEmpty ? "/" : String(path))
        }
        return nil
    }

    private static func bind4(_ descriptor: Int32, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard listening(descriptor, &address) else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func bind6(_ descriptor: Int32, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        guard listening(descriptor, &address) else { return nil }
        return UInt16(bigEndian: address.sin6_port)
    }

    private static func listening<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
    }

    private static func problem(_ uri: String) -> Problem {
        Problem(.loginFailed, "\(uri): crumb cannot wait there: \(String(cString: strerror(errno)))")
    }

    #if canImport(Glibc)
        private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
        private static let streamType = SOCK_STREAM
    #endif
    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}
