package import CookieModel

/// The way of one request of a gateway's client.
package struct GatewayPassage: Sendable {
    /// What became of the request.
    package enum Outcome: Sendable {
        /// The gateway has read it.
        case read
        /// It passed unread, in a tunnel.
        case unread
        /// The client does not trust the gateway's certificate, so there was none.
        case authorityNotTrusted
        /// The gateway does not trust the server's certificate.
        case serverNotTrusted
        /// A program has sent it, although the gateway is for a browser.
        case isOfProgram(String)
    }

    /// The host; `nil` if it is not known.
    package let host: WebHost?
    /// What became of it.
    package let outcome: Outcome

    package init(host: WebHost?, outcome: Outcome) {
        self.host = host
        self.outcome = outcome
    }
}

/// The way of all requests of one run of a gateway, and what its user should know of it.
package struct GatewayPassages: Sendable {
    /// How many hosts of a kind are kept.
    private static let hostLimit = 1000
    /// How many hosts a note names.
    private static let nameLimit = 5

    private var count = 0
    private var read: Set<WebHost> = []
    private var unread: [WebHost] = []
    private var distrusting: [WebHost] = []
    private var distrusted: [WebHost] = []

    /// Creates passages of no request.
    package init() {}

    /// Whether there was no request.
    package var isEmpty: Bool { count == 0 }

    /// Adds a request.
    package mutating func append(_ passage: GatewayPassage) {
        count += 1
        guard let host = passage.host else { return }
        switch passage.outcome {
        case .read, .isOfProgram: if read.count < GatewayPassages.hostLimit { read.insert(host) }
        case .unread: GatewayPassages.insert(host, into: &unread)
        case .authorityNotTrusted: GatewayPassages.insert(host, into: &distrusting)
        case .serverNotTrusted: GatewayPassages.insert(host, into: &distrusted)
        }
    }

    private static func insert(_ host: WebHost, into hosts: inout [WebHost]) {
        if hosts.count < hostLimit, !hosts.contains(host) { hosts.append(host) }
    }

    /// The note on hosts whose requests passed unread, with the options that change that; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - isMissed: Whether the requests of a host should have been read.
    ///   - jar: The name of the jar.
    package func noteOnUnread(jar: String, where isMissed: (WebHost) -> Bool) -> String? {
        let hosts = unread.filter(isMissed)
        guard !hosts.isEmpty else { return nil }
        let options = hosts.prefix(GatewayPassages.nameLimit).map { "--intercept \($0)" }.joined(separator: " ")
        return
            "https requests to \(GatewayPassages.names(hosts)) passed unread, without the cookies of jar '\(jar)', and "
            + "theirs are not in it: add \(options)"
    }

    /// The notes on certificates that were not trusted, with the options that help.
    package var notesOnTrust: [String] {
        var notes: [String] = []
        // A client may have tried twice, the second time with success.
        let distrusting = distrusting.filter { !read.contains($0) }
        if !distrusting.isEmpty {
            let options = distrusting.prefix(GatewayPassages.nameLimit).map { "--bypass \($0)" }.joined(separator: " ")
            notes.append(
                "the program did not trust the gateway's certificate for \(GatewayPassages.names(distrusting)): let it trust "
                    + "the authorities in the file that SSL_CERT_FILE names, or add \(options), without the session")
        }
        return notes + [noteOnServers].compactMap(\.self)
    }

    /// The note on servers whose certificates the gateway did not trust; `nil` if it trusted all.
    package var noteOnServers: String? {
        distrusted.isEmpty
            ? nil
            : "the certificate of \(GatewayPassages.names(distrusted)) is not trusted: name its authority with --ca-file"
    }

    private static func names(_ hosts: [WebHost]) -> String {
        let names = hosts.prefix(nameLimit).map(\.description).joined(separator: ", ")
        return hosts.count > nameLimit ? "\(names) and \(hosts.count - nameLimit) more" : names
    }
}
