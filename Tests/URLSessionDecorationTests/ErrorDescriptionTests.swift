import CookieModel
import Foundation
import OAuth2
import Testing

@testable import HTTPCaching
@testable import RequestDecoration
@testable import ResponseStore
@testable import SessionStore

@Suite("Errors of the libraries, as apps show them")
struct ErrorDescriptionTests {
    private static func errors() throws -> [any Error] {
        let url = try RequestURL("https://shop.example/account?token=opensesame")
        return [
            RequestURLError(code: .hostInvalid), OAuth2Error(unreachable: "no route"),
            SessionStoreError(code: .keyLocked, subject: "the keychain", reason: "it is locked; unlock the device"),
            TokenRefreshError(.tokenExpired, "work"), LoginFallbackError(.exchangeFailed, "work", "no cookie came"),
            ScriptMessageError(.malformed, place: "url"), RedirectError(.loop, url, "redirects in a loop"),
            FieldRuleError("X-Key", "use visible characters"), NotStoredError(url), StoredBody.Damage(),
            NativeCookie.Obstacle.namelessNotHeld, InjectionScript.Obstacle.pathNotWritable,
            CachingRulesError(line: 3, reason: .fragment),
        ]
    }

    @Test("The localized description of every error is its sentence")
    func sentences() throws {
        for error in try ErrorDescriptionTests.errors() {
            #expect(error.localizedDescription == "\(error)")
            #expect((error as? any LocalizedError)?.errorDescription == "\(error)")
            #expect(!error.localizedDescription.contains("could not be completed"))
            #expect(!error.localizedDescription.contains("opensesame"))
        }
    }

    @Test("An error of an app's own key source has its sentence")
    func ownError() {
        let error = SessionStoreError(code: .keyLocked, subject: "the keychain", reason: "unlock the device")
        #expect(error.localizedDescription == "the keychain: unlock the device" && error.code == .keyLocked)
    }

    @Test("Next steps name commands only to users of the command")
    func nextSteps() {
        let cases: [(code: TokenRefreshError.Code, app: String, command: String)] = [
            (
                .loginRequired,
                "the login was revoked or quarantined, or the server no longer accepts it; log in again",
                "the login was revoked or quarantined, or the server no longer accepts it; log in again with "
                    + "'crumb token login work'"
            ),
            (
                .tokenExpired,
                "the access token has expired, and there is no refresh token to renew it with; log in again, or import a "
                    + "new one",
                "the access token has expired, and there is no refresh token to renew it with; log in again with "
                    + "'crumb token login work', or import a new one"
            ),
            (
                .settingsMissing,
                "the token endpoint is unknown, so the tokens cannot be renewed; name it, or log in again",
                "the token endpoint is unknown, so the tokens cannot be renewed; name it with 'crumb token import', or log "
                    + "in with 'crumb token login work'"
            ),
            (
                .refreshBusy, "another process has been refreshing the token for too long; try again",
                "another process has been refreshing the token for too long; try again"
            ),
        ]
        for (code, app, command) in cases {
            let error = TokenRefreshError(code, "work")
            #expect(error.description == "work: \(app)")
            #expect(error.commandDescription == "work: \(command)")
        }
        let missing = SessionStoreError(noJarNamed: "work")
        #expect(missing.description == "work: no such jar")
        #expect(missing.commandDescription == "work: no such jar; 'crumb jars' lists the jars")
    }
}
