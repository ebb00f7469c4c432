import ArgumentParser
import Foundation

/// How authorization servers are reached, for commands that ask one.
///
/// The options are handed on to the program that speaks HTTP in its environment, which other users cannot read: a URL may
/// have a password in it.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: .value(
            "url",
            "The proxy for requests to servers: http://HOST:PORT or socks5://HOST:PORT; empty for none. Default: "
                + "CRUMB_PROXY, else HTTPS_PROXY, http_proxy or ALL_PROXY, but for the hosts in NO_PROXY."))
    var proxy: String?

    @Option(
        help: .file(
            "The file with USER:PASSWORD for the proxy, readable only by you. Default: CRUMB_PROXY_CREDENTIALS_FILE."))
    var proxyCredentialsFile: String?

    @Option(
        name: .customLong("ca-file"),
        help: .file(
            "A file with certificates in PEM that are trusted besides the system's, or besides those of SSL_CERT_FILE and "
                + "SSL_CERT_DIR. Default: CRUMB_CA_FILE."))
    var authorityFile: String?

    func validate() throws {
        for (name, value) in [
            ("CRUMB_PROXY", proxy), ("CRUMB_PROXY_CREDENTIALS_FILE", proxyCredentialsFile),
            ("CRUMB_CA_FILE", authorityFile),
        ] {
            if let value { setenv(name, value, 1) }
        }
    }
}
