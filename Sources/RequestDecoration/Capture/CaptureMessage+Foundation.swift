internal import CookieModel
import Foundation

extension CaptureMessage {
    /// Reads what a ``CaptureScript`` sent.
    ///
    /// Strict: a message with anything that the script never sends is refused. At most 256 KiB, and 64 cookies.
    ///
    /// - Parameter text: the message's body.
    public init(_ text: String) throws(ScriptMessageError) {
        self = try ScriptMessage.decode(CaptureMessageDocument.self, text).message
    }
}

private struct CaptureMessageDocument: Decodable {
    private static let itemLimit = 64

    let message: CaptureMessage

    init(from decoder: any Decoder) throws {
        let all = try ScriptMessageObject(
            decoder,
            [
                "crumb", "kind", "url", "line", "changed", "deleted", "through", "response", "method", "status",
                "redirected",
            ])
        guard try all.text("crumb", limit: 16) == "capture" else { throw all.malformed("crumb") }
        let common: Set<String> = ["crumb", "kind", "url"]
        let place = try all.requiredText("url", limit: 65_536)
        let url = try? RequestURL(place)
        let content: CaptureMessage.Content
        switch try all.requiredText("kind", limit: 16) {
        case "cookie":
            let object = try ScriptMessageObject(decoder, common.union(["line"]))
            content = .cookie(Octets(try object.requiredText("line", limit: 65_536)))
        case "change":
            let object = try ScriptMessageObject(decoder, common.union(["changed", "deleted"]))
            let limit = CaptureMessageDocument.itemLimit
            content = .change(
                set: try object.list("changed", of: ChangedCookieDocument.self, limit: limit).map(\.cookie),
                deleted: try object.list("deleted", of: ChangedCookieDocument.self, limit: limit).map(\.cookie))
        case "response":
            let object = try ScriptMessageObject(
                decoder, common.union(["through", "response", "method", "status", "redirected"]))
            guard let through = ScriptResponse.Interface(rawValue: try object.requiredText("through", limit: 16)) else {
                throw object.malformed("through")
            }
            guard let number = try object.number("status"), let status = Int(exactly: number),
                (0...999).contains(status)
            else { throw object.malformed("status") }
            content = .response(
                ScriptResponse(
                    through: through, url: try object.text("response", limit: 131_072),
                    method: try object.requiredText("method", limit: 1024), status: status,
                    isRedirected: try object.flag("redirected") ?? false))
        case "touched":
            _ = try ScriptMessageObject(decoder, common)
            content = .touched
        default:
            throw all.malformed("kind")
        }
        message = CaptureMessage(content, url: url)
    }
}

private struct ChangedCookieDocument: Decodable {
    let cookie: ChangedCookie

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(
            decoder, ["name", "value", "domain", "path", "expires", "secure", "sameSite", "partitioned"])
        let sameSite: SameSite
        switch try object.text("sameSite", limit: 16) {
        case "strict": sameSite = .strict
        case "lax": sameSite = .lax
        case "none": sameSite = .none
        case nil: sameSite = .default
        default: throw object.malformed("sameSite")
        }
        var expiry: Timestamp?
        if let milliseconds = try object.number("expires") {
            guard let microseconds = Int64(exactly: (milliseconds * 1000).rounded()) else {
                throw object.malformed("expires")
            }
            expiry = Timestamp(microseconds: microseconds)
        }
        cookie = ChangedCookie(
            name: try object.requiredText("name", limit: 16_384), value: try object.text("value", limit: 16_384),
            domain: try object.text("domain", limit: 1024), path: try object.text("path", limit: 16_384),
            expiry: expiry, isSecure: try object.flag("secure") ?? false, sameSite: sameSite,
            isPartitioned: try object.flag("partitioned") ?? false)
    }
}
