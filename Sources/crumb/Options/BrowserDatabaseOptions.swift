import ArgumentParser
import BrowserCookies
import Foundation
import OAuth2

/// What a browser's database does not tell by itself.
struct BrowserDatabaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read this container of Firefox; 0 is no container.", valueName: "number"))
    var browserContainer = 0

    @Option(
        help: ArgumentHelp(
            "The file with the password that Chromium encrypts its cookies with. Default: CRUMB_BROWSER_PASSWORD.",
            valueName: "file"))
    var browserPasswordFile: String?

    func options() throws -> BrowserDatabase.Options {
        var options = BrowserDatabase.Options()
        options.container = browserContainer
        options.password = try password()
        return options
    }

    private func password() throws -> [UInt8]? {
        if let browserPasswordFile {
            var bytes = try InputFile(browserPasswordFile).contents(limit: 4096)
            while bytes.last.map(InputFile.isWhiteSpace) == true { bytes.removeLast() }
            return bytes
        }
        return SecretVariable.browserPassword.secret?.exposedBytes
    }
}
