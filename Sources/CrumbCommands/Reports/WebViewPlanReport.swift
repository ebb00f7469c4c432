import CookieModel
import OAuth2
import RequestDecoration
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A plan for a web view in JSON.
struct WebViewPlanReport: Encodable {
    /// One step; of the members beside `step` those that it has.
    struct Step: Encodable {
        let step: String
        var cookies: [NativeCookieDocument]?
        var script: String?
        /// The names of the schemes to register a handler for.
        var schemes: [String]?
        /// The cookies of the script that scripts of the page cannot see.
        var unverifiable: [CookieIdentityReport]?
        /// How many items of `localStorage` the script sets; left out if it sets none.
        var storageItems: Int?
        var url: String?
        /// The user of the gateway and the user's secret.
        var user: String?
        var secret: String?
        var cookie: String?
        var cookieBase64: String?

        init(_ step: WebViewPlan.Step) {
            switch step {
            case .useGateway(let gateway):
                self.step = "use-gateway"
                url = gateway.proxyURL
                user = gateway.credentials?.user
                secret = gateway.credentials?.secret.exposedText
            case .useSchemes(let script):
                self.step = "use-schemes"
                self.script = script.source
                schemes = script.scheme.names
            case .putIntoStore(let cookies):
                self.step = "put-into-store"
                self.cookies = cookies.map(NativeCookieDocument.init)
            case .installScript(let script):
                self.step = "install-script"
                self.script = script.source
                storageItems = script.storageItemCount == 0 ? nil : script.storageItemCount
                unverifiable = script.unverifiable.isEmpty ? nil : script.unverifiable.map { CookieIdentityReport($0) }
            case .load(let url, let cookie):
                self.step = "load"
                self.url = url.description
                let octets = cookie.map(OctetsReport.init)
                self.cookie = octets?.text
                cookieBase64 = octets?.base64
            case .verify(let cookies):
                self.step = "verify"
                self.cookies = cookies.map(NativeCookieDocument.init)
            }
        }
    }

    let url: String
    let steps: [Step]
    let omitted: [ExplanationReport.Exclusion]

    init(_ plan: WebViewPlan) {
        url = plan.page.description
        steps = plan.steps.map(Step.init)
        omitted = plan.omissions.map { omission in
            ExplanationReport.Exclusion(
                cookie: CookieReport(omission.cookie, showingValue: false),
                reasons: [
                    ReasonReport(id: omission.obstacle.rawValue, explanation: omission.obstacle.explanation)
                ])
        }
    }
}

/// A cookie of a web view's store in JSON, with the members that the list of a jar has too.
struct NativeCookieDocument: Codable {
    /// How large a dump of a store may be: 64 MiB.
    private static let limit = 1 << 26

    let name: String
    let value: String
    let domain: String
    let hostOnly: Bool
    let path: String?
    let secure: Bool?
    let httpOnly: Bool?
    let sameSite: String?
    let expires: String?
    let partitionKey: String?

    init(_ cookie: NativeCookie) {
        name = cookie.name
        value = cookie.value
        domain = cookie.isHostOnly ? cookie.domain : String(cookie.domain.dropFirst())
        hostOnly = cookie.isHostOnly
        path = cookie.path
        secure = cookie.isSecure
        httpOnly = cookie.isHTTPOnly
        sameSite = cookie.sameSite.attributeValue
        expires = cookie.expiry?.rfc3339
        partitionKey = cookie.partitionKey?.serialized
    }

    /// The cookies of a dump: an array of objects, or an object on each line.
    static func cookies(_ input: InputFile) throws -> [NativeCookie] {
        let bytes = try input.contents(limit: limit, otherwise: .entryMalformed)
        let start = bytes.first { !InputFile.isWhiteSpace($0) }
        guard start != UInt8(ascii: "[") else {
            return try decoded([NativeCookieDocument].self, bytes[...], input.name).enumerated().map {
                index, document in
                try document.cookie(at: "\(input.name): entry \(index + 1)")
            }
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return try lines.enumerated().compactMap { index, line in
            guard line.contains(where: { !InputFile.isWhiteSpace($0) }) else { return nil }
            let place = "\(input.name): line \(index + 1)"
            return try decoded(NativeCookieDocument.self, line, place).cookie(at: place)
        }
    }

    private static func decoded<Document: Decodable>(
        _ type: Document.Type, _ bytes: ArraySlice<UInt8>, _ place: String
    ) throws -> Document {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            // The decoder's own words may quote a value.
            throw CommandFailure(
                .entryMalformed, "\(place): not a cookie in JSON; name, value, domain and hostOnly are required")
        }
    }

    private func cookie(at place: String) throws -> NativeCookie {
        var cookie = NativeCookie(
            name: name, value: value, domain: hostOnly ? domain : ".\(domain)", path: path ?? "/",
            isSecure: secure ?? false, isHTTPOnly: httpOnly ?? false,
            partitionKey: partitionKey.flatMap(PartitionKey.init(serialized:)))
        if let sameSite {
            guard let known = SameSite.allCases.first(where: { $0.attributeValue == sameSite }) else {
                throw CommandFailure(.entryMalformed, "\(place): use Strict, Lax or None for sameSite, or leave it out")
            }
            cookie.sameSite = known
        }
        if let expires {
            guard let expiry = Timestamp(rfc3339: Array(expires.utf8)) else {
                throw CommandFailure(.entryMalformed, "\(place): write expires as a time such as 2027-01-31T12:00:00Z")
            }
            cookie.expiry = Timestamp(seconds: expiry.seconds)
        }
        return cookie
    }
}
