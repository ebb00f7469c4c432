import Foundation
import SessionOperations

/// Where files lie when nothing else is said: the XDG folders on Linux, Application Support on macOS.
struct Locations {

    /// The database file.
    func database() throws -> String {
        try value("CRUMB_DATABASE") ?? defaultDatabase()
    }

    /// The database file where nothing else is said.
    func defaultDatabase() throws -> String {
        try folder(variable: "XDG_DATA_HOME", fallback: ".local/share") + "/crumb.sqlite"
    }

    /// Whether the key file is the one where nothing else is said.
    var usesDefaultKeyFile: Bool { value("CRUMB_KEY_FILE") == nil }

    /// The key file.
    func keyFile() throws -> String {
        if let path = value("CRUMB_KEY_FILE") { return path }
        return try folder(variable: "XDG_CONFIG_HOME", fallback: ".config") + "/key"
    }

    /// The public suffix list, where there is to be another one than the built-in.
    var publicSuffixList: String? { value("CRUMB_PUBLIC_SUFFIX_LIST") }

    /// The jar that commands use unless they name one.
    var jar: String? { value("CRUMB_JAR") }

    /// The login that commands use unless they name one.
    var login: String? { value("CRUMB_LOGIN") }

    /// The file with the name of the login that was chosen.
    func loginFile() throws -> String {
        try folder(variable: "XDG_CONFIG_HOME", fallback: ".config") + "/login"
    }

    /// The user's folder.
    func home() throws -> String {
        guard let home = value("HOME") else { throw Problem(.fileNotWritten, "HOME is not set; name the folder") }
        return home
    }

    /// The running service that is asked instead of a file.
    var service: String? { value("CRUMB_SERVICE") }

    /// The file with the service's access token.
    var serviceTokenFile: String? { value("CRUMB_SERVICE_TOKEN_FILE") }

    /// The file with certificates that are trusted for the service.
    var serviceCA: String? { value("CRUMB_SERVICE_CA") }

    /// How many seconds a server has to answer a refresh.
    ///
    /// - Throws: that the variable is no such number.
    var refreshTimeout: Int? {
        get throws {
            let name = "CRUMB_REFRESH_TIMEOUT_SECONDS"
            guard let text = value(name) else { return nil }
            guard let seconds = Int(text), RefreshOptions.timeouts.contains(seconds) else {
                throw Problem(.tokenSettingsInvalid, "\(name): '\(text)' is not a number from 1 to 3600")
            }
            return seconds
        }
    }

    /// The file with the passphrase of the key file.
    func passphraseFile() -> String? {
        value("CRUMB_PASSPHRASE_FILE")
    }

    private func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func folder(variable: String, fallback: String) throws -> String {
        // The XDG specification has relative paths ignored.
        if let folder = value(variable), folder.hasPrefix("/") { return folder + "/crumb" }
        guard let home = value("HOME") else {
            throw Problem(.databaseUnavailable, "HOME is not set; name the files with --database and CRUMB_KEY_FILE")
        }
        #if os(macOS)
            return home + "/Library/Application Support/crumb"
        #else
            return "\(home)/\(fallback)/crumb"
        #endif
    }
}
