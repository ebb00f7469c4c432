import ArgumentParser
import Foundation

/// Which running service is asked in the place of a database file.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use a running service instead of a database file: unix:/PATH, https://HOST[/PREFIX] or http://127.0.0.1:PORT. "
                + "Default: CRUMB_SERVICE.",
            valueName: "url"))
    var service: String?

    @Option(
        help: ArgumentHelp(
            "The file with the access token for the service, readable only by you. Default: CRUMB_SERVICE_TOKEN_FILE.",
            valueName: "file"))
    var serviceTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with certificates in PEM that are trusted for the service, besides the system's. Default: "
                + "CRUMB_SERVICE_CA.",
            valueName: "file"))
    var serviceCA: String?

    /// The service; `nil` where none is given.
    func connection() throws -> ServiceConnection? {
        let locations = Locations()
        guard let text = service ?? locations.service else { return nil }
        let file = serviceTokenFile ?? locations.serviceTokenFile
        let address = try ServiceAddress(text)
        let authorities = address.isEncrypted ? serviceCA ?? locations.serviceCA : nil
        return ServiceConnection(
            address: address, token: try file.map { try ServiceTokenFile($0) },
            authorities: try authorities.map { try ServiceConnection.certificates(in: $0) })
    }
}
