import ArgumentParser
import BrowserCookies
import Foundation
import OAuth2
import SessionOperations

/// What a browser's database does not tell by itself.
struct BrowserDatabaseOptions: ParsableArguments {
    @Option(
        name: [.customLong("container"), .customLong("browser-container")],
        help: ArgumentHelp("Read this container of Firefox, by name or number; 'none' is 0.", valueName: "name"))
    var container = "none"

    @Option(
        name: [.customLong("keyring-password-file"), .customLong("browser-password-file")],
        help: ArgumentHelp(
            "The file with the password that Chromium encrypts its cookies with; '-' is standard input. Default: "
                + "CRUMB_BROWSER_PASSWORD, else the desktop's keyring.",
            valueName: "file"))
    var passwordFile: String?

    /// What a database is read with.
    ///
    /// - Parameter keyring: what is asked for the password if none is given.
    func options(keyring: DesktopKeyring? = nil) throws -> BrowserDatabase.Options {
        var options = BrowserDatabase.Options()
        if let password = try password() {
            options.password = { password }
        } else if let keyring {
            options.password = { keyring.password() }
        }
        return options
    }

    /// The number of the container in the profile that a file of Firefox's belongs to.
    func containerNumber(ofProfileIn folder: String) throws -> Int {
        let containers = FirefoxContainers(inFolder: folder)
        if let number = containers.number(of: container) { return number }
        let names = containers.all.map { "\($0.name) (\($0.number))" }.joined(separator: ", ")
        throw Problem(
            .inputNotFound,
            "there is no container '\(container)' in \(folder)/containers.json"
                + (names.isEmpty ? "" : "; containers: \(names)"))
    }

    private func password() throws -> [UInt8]? {
        if let passwordFile {
            var bytes = try InputFile(passwordFile).contents(limit: 4096)
            while bytes.last.map(InputFile.isWhiteSpace) == true { bytes.removeLast() }
            return bytes
        }
        return SecretVariable.browserPassword.secret?.exposedBytes
    }
}
