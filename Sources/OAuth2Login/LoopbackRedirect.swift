import CookieModel
import HTTPMessages
import Platform
import Synchronization
import WebPrimitives

/// Waits on a loopback address for the browser to come back from a login (RFC 8252, section 7.3).
///
/// It listens on both loopback addresses if the redirect is to `localhost`, since the browser chooses one of them
/// (section 8.3).
///
/// It reads one small request at a time. A request that does not belong to the login gets an error page, and the wait
/// continues: any program on this machine, and any web page, can send requests here.
package final class LoopbackRedirect: Sendable {
    /// An answer that the browser brought. The browser waits, for as long as the login takes, for the page that tells how
    /// the login ended.
    package final class Arrival: Sendable {
        /// Path and query.
        package let target: String
        private let redirect: LoopbackRedirect
        /// The browser's connection; `nil` if the user pasted the URL, and after the page was sent.
        private let connection: Mutex<Int32?>

        fileprivate init(_ target: String, at redirect: LoopbackRedirect, _ connection: Int32?) {
            self.target = target
            self.redirect = redirect
            self.connection = Mutex(connection)
        }

        /// Shows the user how the login ended. Only the first page is sent.
        ///
        /// A browser that has left meanwhile changes nothing. One that was told to load the page again waits in line, and
        /// gets the same page.
        package func finish(_ page: LoopbackPage) {
            let connection = connection.withLock { $0.take() }
            guard let connection else { return }
            redirect.answer(connection, page)
            redirect.answerReloads(of: target, page)
        }
    }

    /// The default redirect URI: any free port.
    package static let defaultURI = "http://127.0.0.1/callback"

    private static let maximumHeadSize = 16_384

    /// The redirect URI with the port that it really is.
    package let redirectURI: String
    /// An address that redirects the user's browser to the login page, as often as it is opened. It is for the argument
    /// list of a program that opens a browser: everybody on this machine may read that list, and the page's own URL
    /// contains the secrets that tie the login together.
    package let opening: String
    private let path: String
    private let openingPath: String
    /// The page that ``opening`` leads to.
    private let page = Mutex<String?>(nil)
    /// The warnings that were printed, each only once: a sender of one such request can send many.
    private let warnings = Mutex<Set<String>>([])
    private let listeners: [Int32]
    private let program: String
    private let report: @Sendable (String) -> Void

    /// Listens.
    ///
    /// - Parameters:
    ///   - uri: `http`, a loopback address or `localhost`, and a path; with port 0 or none, one that is free is taken.
    ///   - program: The name that the user knows the program by, for the pages.
    ///   - report: Called with what the user of a terminal should know.
    /// - Throws: `LoginError`.
    package init(
        _ uri: String, for program: String = "Crumb",
        reportingTo report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(LoginError) {
        // TokenLogin listens only where ``isLoopback(_:)`` is true, so only the command meets this.
        guard let (host, port, path) = LoopbackRedirect.parts(of: uri) else {
            throw LoginError(
                .settingsInvalid,
                "\(uri): crumb cannot listen at this URL; use http://127.0.0.1/path or http://[::1]/path, or "
                    + "http://localhost/path if the server accepts nothing else")
        }
        self.path = path
        guard let (listeners, bound) = LoopbackRedirect.sockets(at: host, port) else {
            throw LoginError(
                .loginFailed,
                advice: "\(uri): \(app: "a login", command: "crumb") cannot listen there: "
                    + "\(SystemError.last.message)")
        }
        self.listeners = listeners
        self.program = program
        self.report = report
        redirectURI = "http://\(host):\(bound)\(path)"
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        openingPath = "/login-\(secret.joined())"
        opening = "http://\(host == "[::1]" ? host : "127.0.0.1"):\(bound)\(openingPath)"
    }

    /// Has ``opening`` lead to a page, from now on.
    package func offer(_ url: String) {
        page.withLock { $0 = url }
    }

    deinit {
        listeners.forEach { close($0) }
    }

    /// Waits for the browser, or for a URL that the user pastes on standard input. It blocks the thread.
    ///
    /// - Parameters:
    ///   - readsInput: whether a line of standard input counts as the redirect.
    ///   - stop: a descriptor that can be read once the wait has to end; `nil` if nothing ends it early.
    ///   - isMeant: whether an arrival belongs to this login; others get an error page.
    /// - Returns: `nil` after the deadline, or if it was stopped.
    package func arrival(
        until deadline: ContinuousClock.Instant, readsInput: Bool, stoppedBy stop: Int32? = nil,
        isMeant: (String) -> Bool
    ) -> Arrival? {
        var watched = (listeners + [stop].compactMap(\.self)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let input = watched.count
        if readsInput { watched.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)) }
        var line: [UInt8] = []
        while true {
            let left = deadline - .now
            guard left > .zero else { return nil }
            let milliseconds = min(left, .seconds(60)).components.seconds * 1000 + 1
            let count = poll(&watched, nfds_t(watched.count), Int32(milliseconds))
            guard count > 0 else { continue }
            if stop != nil, watched[listeners.count].revents != 0 { return nil }
            for watched in watched.prefix(listeners.count) where watched.revents != 0 {
                if let arrival = accepted(from: watched.fd, until: deadline, stoppedBy: stop, isMeant) {
                    return arrival
                }
            }
            guard watched.count > input, watched[input].revents != 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else {
                watched.removeLast()
                continue
            }
            guard byte == UInt8(ascii: "\n") else {
                if line.count < LoopbackRedirect.maximumHeadSize { line.append(byte) }
                continue
            }
            let text = String(String(decoding: line, as: UTF8.self).trimmingWhitespace)
            line = []
            if isMeant(text) { return Arrival(text, at: self, nil) }
            let advice = "paste the whole URL that the browser was redirected to"
            report("this is not the URL of this login; \(advice)")
        }
    }

    private func accepted(
        from listener: Int32, until deadline: ContinuousClock.Instant, stoppedBy stop: Int32?,
        _ isMeant: (String) -> Bool
    ) -> Arrival? {
        guard let connection = LoopbackRedirect.connection(from: listener) else {
            // Without a free descriptor, the connection stays in line, and the listener ready: wait until one is free.
            if errno == EMFILE || errno == ENFILE {
                var watched = pollfd(fd: stop ?? -1, events: Int16(POLLIN), revents: 0)
                _ = poll(&watched, 1, 100)
            }
            return nil
        }
        // A client that sends nothing, or sends slowly, must not keep the browser out for long.
        let end = min(deadline, .now + .seconds(2))
        guard let target = LoopbackRedirect.target(connection, until: end) else {
            close(connection)
            return nil
        }
        if target == openingPath, let page = page.withLock({ $0 }) {
            open(page, connection)
            return nil
        }
        guard target.prefix(while: { $0 != "?" }) == path else {
            answer(connection, .notFound)
            return nil
        }
        guard isMeant(target) else {
            answer(connection, .notThisLogin)
            warn(
                "a browser returned the response to another login (its state is different); crumb is still "
                    + "waiting for the response to this one")
            return nil
        }
        return Arrival(target, at: self, connection)
    }

    /// Sends the browser on. A second time too: a program that opens browsers may fail after it has opened one.
    private func open(_ page: String, _ connection: Int32) {
        // The superuser relays for users of other systems on the same machine.
        if let user = LoopbackPeer.user(of: connection), user != getuid(), user != 0 {
            answer(connection, .anotherUser)
            return warn(
                "another user of this machine (uid \(user)) opened the login page and was rejected; crumb is "
                    + "still waiting for your browser")
        }
        answer(connection, .redirect(to: page))
    }

    private func warn(_ text: String) {
        guard warnings.withLock({ $0.insert(text).inserted && $0.count <= 10 }) else { return }
        report(text)
    }

    /// Answers the requests that came while the login was ending: those for its own URL with its page.
    private func answerReloads(of target: String, _ page: LoopbackPage) {
        // Clients that have connected and sent nothing are not waited for.
        let end = ContinuousClock.now + .milliseconds(200)
        for listener in listeners {
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            while .now < end, poll(&waiting, 1, 0) > 0 {
                guard let connection = LoopbackRedirect.connection(from: listener) else { break }
                switch LoopbackRedirect.target(connection, until: min(end, .now + .milliseconds(20))) {
                case nil: close(connection)
                case target: answer(connection, page)
                default: answer(connection, .notFound)
                }
            }
        }
    }

    /// The target of a GET request that has come by `end`; `nil` for anything else.
    private static func target(_ connection: Int32, until end: ContinuousClock.Instant) -> String? {
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while head.count < maximumHeadSize {
            let left = Int((end - .now) / .milliseconds(1))
            // No time at all would be no limit.
            guard left > 0 else { return nil }
            var wait = timeval(tv_sec: left / 1000, tv_usec: suseconds_t(left % 1000 * 1000))
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += buffer[..<count]
            guard let end = MessageHead.end(in: head.span, from: 0) else { continue }
            guard let head = try? MessageHead(Array(head[..<end]), from: .client),
                let line = try? RequestLine(head.octets.span.extracting(head.startLine)),
                head.octets[line.method].elementsEqual("GET".utf8)
            else { return nil }
            return String(decoding: head.octets[line.target], as: UTF8.self)
        }
        return nil
    }

    /// Accepts a connection, and gives up on a browser that does not read its answer; `nil` if it has gone.
    private static func connection(from listener: Int32) -> Int32? {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return nil }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            // It gets the mode of the listener, which does not block.
            _ = fcntl(connection, F_SETFL, 0)
            var isOn: Int32 = 1
            setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var wait = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        return connection
    }

    private func answer(_ connection: Int32, _ page: LoopbackPage) {
        var octets = page.response(of: program)
        while !octets.isEmpty {
            let count = send(connection, octets, octets.count, LoopbackRedirect.noSignal)
            guard count > 0 else { break }
            octets.removeFirst(count)
        }
        close(connection)
    }

    // MARK: - Addresses

    /// Whether a redirect URI is one that can be listened at.
    static func isLoopback(_ uri: String) -> Bool { parts(of: uri) != nil }

    private static func parts(of uri: String) -> (host: String, port: UInt16, path: String)? {
        guard uri.hasPrefix("http://") else { return nil }
        let rest = uri.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        guard !path.contains(where: { $0 == "?" || $0 == "#" || $0 == " " }) else { return nil }
        for host in ["127.0.0.1", "[::1]", "localhost"] where authority.hasPrefix(host) {
            let port = authority.dropFirst(host.count)
            if port.isEmpty { return (host, 0, path.isEmpty ? "/" : String(path)) }
            guard port.first == ":", let number = UInt16(port.dropFirst()) else { return nil }
            return (host, number, path.isEmpty ? "/" : String(path))
        }
        return nil
    }

    /// Sockets that listen on the addresses of a host, all on the same port.
    private static func sockets(at host: String, _ port: UInt16) -> (listeners: [Int32], port: UInt16)? {
        switch host {
        case "127.0.0.1": return listener4(port).map { ([$0.listener], $0.port) }
        case "[::1]": return listener6(port).map { ([$0.listener], $0.port) }
        default: break
        }
        // A port that is free at one address may be another program's at the other one, which the browser could choose.
        for _ in 0..<(port == 0 ? 20 : 1) {
            guard let first = listener4(port) else { return nil }
            if let second = listener6(first.port) { return ([first.listener, second.listener], first.port) }
            if [EAFNOSUPPORT, EADDRNOTAVAIL].contains(errno) { return ([first.listener], first.port) }
            closeKeepingError(first.listener)
        }
        return nil
    }

    private static func listener4(_ port: UInt16) -> (listener: Int32, port: UInt16)? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return listener(AF_INET, &address).map { ($0, UInt16(bigEndian: address.sin_port)) }
    }

    private static func listener6(_ port: UInt16) -> (listener: Int32, port: UInt16)? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return listener(AF_INET6, &address).map { ($0, UInt16(bigEndian: address.sin6_port)) }
    }

    /// A socket that listens at an address, which is given the port that it really is.
    private static func listener<Address>(_ family: Int32, _ address: inout Address) -> Int32? {
        let descriptor = socket(family, SocketKind.stream, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // A client that has left by the time of the call must not block it.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var length = socklen_t(MemoryLayout<Address>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else {
            closeKeepingError(descriptor)
            return nil
        }
        return descriptor
    }

    private static func closeKeepingError(_ descriptor: Int32) {
        let error = errno
        close(descriptor)
        errno = error
    }

    #if canImport(Darwin)
        // The sockets have SO_NOSIGPIPE.
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}
