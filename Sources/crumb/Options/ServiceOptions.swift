import ArgumentParser
import Foundation

/// Which running service is asked in the place of a database file.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use a running service instead of a database file: unix:/PATH, https://HOST or http://127.0.0.1:PORT. "
                + "Default: CRUMB_SERVICE.",
            valueName: "url"))
    var service: String?

    @Option(
        help: ArgumentHelp(
            "The file with the access token for the service, readable only by you. Default: CRUMB_SERVICE_TOKEN_FILE.",
            valueName: "file"))
    var serviceTokenFile: String?

    /// The service; `nil` where none is given.
    func connection() throws -> ServiceConnection? {
        let locations = Locations()
        guard let text = service ?? locations.service else { return nil }
        let file = serviceTokenFile ?? locations.serviceTokenFile
        return ServiceConnection(
            address: try ServiceAddress(text), token: try file.map { try ServiceTokenFile($0) })
    }
}
