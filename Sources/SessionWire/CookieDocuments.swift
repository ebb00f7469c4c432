public import WebPrimitives

/// A header field of a message: its value as text, or its octets in Base64.
public struct HeaderFieldDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name, value, valueBase64
    }

    /// The name.
    package let name: String
    /// The value.
    package let value: String?
    /// The value in Base64 if it is not UTF-8.
    package let valueBase64: String?

    /// The octets of the value.
    public var octets: Octets { OctetsReport(text: value, base64: valueBase64).octets }

    /// A field with the octets of its value.
    public init(name: String, value: Octets) {
        self.name = name
        self.value = value.utf8String
        valueBase64 = self.value == nil ? value.base64 : nil
    }

    /// A field whose value is text.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
        valueBase64 = nil
    }

    /// Decodes a field, which has no other members.
    public init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: HeaderFieldDocument.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .name)
        value = try members.decodeIfPresent(String.self, forKey: .value)
        valueBase64 = try members.decodeIfPresent(String.self, forKey: .valueBase64)
    }
}

/// A request that is about to be sent.
public typealias DecorateDocument = Detailed<DecorateMembers>

/// The members of ``DecorateDocument`` besides the details of the request.
public struct DecorateMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, headers
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// The header fields that the request has already. Its own cookies come first and take precedence by name.
    package let headers: [HeaderFieldDocument]?
}

extension DecorateDocument {
    /// Creates the document. Members that are `nil` are left out.
    public init(url: String, _ details: RequestDetails = RequestDetails(), headers: [HeaderFieldDocument]? = nil) {
        self.init(DecorateMembers(url: url, headers: headers), details)
    }
}

/// A response that was received.
public typealias ResponseDocument = Detailed<ResponseMembers>

/// The members of ``ResponseDocument`` besides the details of the request.
public struct ResponseMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, status, headers, sent, received
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// The status; 200 by default.
    package let status: Number<StatusRange>?
    /// The header fields. `Set-Cookie` is used and, for login rules, `Location`, `WWW-Authenticate` and `DPoP-Nonce`;
    /// others are ignored.
    package let headers: [HeaderFieldDocument]
    /// When the client asked for the cookies of the request, just before it was sent (RFC 3339), with fractions of a
    /// second. Login rules use it to tell whether the request carried the renewed token.
    package let sent: String?
    /// When the response was received (RFC 3339): lifetimes count from then. Now by default.
    package let received: String?
}

extension ResponseDocument {
    /// Creates the document. Members that are `nil` are left out.
    public init(
        url: String, status: Int? = nil, headers: [HeaderFieldDocument], _ details: RequestDetails = RequestDetails(),
        sent: String? = nil, received: String? = nil
    ) {
        self.init(
            ResponseMembers(
                url: url, status: status.map(Number.init(unchecked:)), headers: headers, sent: sent, received: received),
            details)
    }
}

/// `Set-Cookie` lines that are stored as if a URL had answered with them.
package typealias SetCookieDocument = Detailed<SetCookieMembers>

/// The members of ``SetCookieDocument`` besides the details of the request.
package struct SetCookieMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, setCookie, setCookieBase64
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// The `Set-Cookie` lines, such as `name=value; Path=/; Secure`.
    package let setCookie: [String]?
    /// Lines in Base64, after those of `setCookie`.
    package let setCookieBase64: [String]?
}

extension SetCookieDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        url: String, _ details: RequestDetails = RequestDetails(), setCookie: [String]? = nil,
        setCookieBase64: [String]? = nil
    ) {
        self.init(SetCookieMembers(url: url, setCookie: setCookie, setCookieBase64: setCookieBase64), details)
    }
}

/// The request whose cookies are explained.
package typealias ExplainDocument = Detailed<ExplainMembers>

/// The members of ``ExplainDocument`` besides the details of the request.
package struct ExplainMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, script, verdict
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// Whether the cookies are those that scripts of the page can read or set.
    package let script: Bool?
    /// A browser's decision, as a gateway reports it. It takes the place of `topLevel` and `initiator`.
    package let verdict: EngineVerdictDocument?
}

extension ExplainDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        url: String, _ details: RequestDetails = RequestDetails(), script: Bool? = nil,
        verdict: EngineVerdictDocument? = nil
    ) {
        self.init(ExplainMembers(url: url, script: script, verdict: verdict), details)
    }
}

/// The request that the cache is asked about.
package typealias ExplainCacheDocument = Detailed<ExplainCacheMembers>

/// The members of ``ExplainCacheDocument`` besides the details of the request.
package struct ExplainCacheMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, headers, rules, offline, verdict, client
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// The request's own fields, without Cookie. Other fields that a stored response depends on count as those of the
    /// request that it has answered.
    package let headers: [HeaderFieldDocument]?
    /// The lines of a table of rules, as in a file of `--rules`; by default, the built-in rules alone decide.
    package let rules: [String]?
    /// Whether no server is connected to.
    package let offline: Bool?
    /// A browser's decision, as a gateway reports it. It takes the place of `topLevel` and `initiator`.
    package let verdict: EngineVerdictDocument?
    /// What sends the request: a browser (`browser`) or a program (`tool`). What is stored for the other does not answer
    /// it. By default `browser` with a `verdict`; otherwise what is stored for either answers.
    package let client: String?
}

extension ExplainCacheDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        url: String, _ details: RequestDetails = RequestDetails(), headers: [HeaderFieldDocument]? = nil,
        rules: [String]? = nil, offline: Bool? = nil, verdict: EngineVerdictDocument? = nil,
        client: String? = nil
    ) {
        self.init(
            ExplainCacheMembers(
                url: url, headers: headers, rules: rules, offline: offline, verdict: verdict, client: client), details)
    }
}

/// A browser's decision on the cookies of a request.
package struct EngineVerdictDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case source, classes, partition
    }

    /// How that is known: by cookies of the gateway's own (`witness`), by the Sec-Fetch fields (`sec-fetch`), or not at
    /// all (`none`).
    package let source: String
    /// The SameSite classes of cookies that the request carries: `strict`, `lax`, `none`, `default` and `recent`.
    package let classes: [String]
    /// The partition whose cookies it carries.
    package let partition: String?

    /// Creates the document. A partition that is `nil` is left out.
    package init(source: String, classes: [String], partition: String? = nil) {
        self.source = source
        self.classes = classes
        self.partition = partition
    }

    /// Decodes a verdict, which has no other members.
    package init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: EngineVerdictDocument.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        source = try members.decode(String.self, forKey: .source)
        classes = try members.decode([String].self, forKey: .classes)
        partition = try members.decodeIfPresent(String.self, forKey: .partition)
    }
}

/// `Set-Cookie` lines that are tried without being stored.
package typealias ExplainSetCookieDocument = Detailed<ExplainSetCookieMembers>

/// The members of ``ExplainSetCookieDocument`` besides the details of the request.
package struct ExplainSetCookieMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, script, setCookie, setCookieBase64
    }

    /// The URL: absolute, http or https.
    package let url: String
    /// Whether the cookies are those that scripts of the page can read or set.
    package let script: Bool?
    /// The `Set-Cookie` lines, such as `name=value; Path=/; Secure`.
    package let setCookie: [String]?
    /// Lines in Base64, after those of `setCookie`.
    package let setCookieBase64: [String]?
}

extension ExplainSetCookieDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        url: String, _ details: RequestDetails = RequestDetails(), script: Bool? = nil, setCookie: [String]? = nil,
        setCookieBase64: [String]? = nil
    ) {
        self.init(
            ExplainSetCookieMembers(url: url, script: script, setCookie: setCookie, setCookieBase64: setCookieBase64),
            details)
    }
}

/// The pages that an injection script is for, and how it sets cookies.
package typealias ScriptDocument = Detailed<ScriptMembers>

/// The members of ``ScriptDocument`` besides the details of the request.
package struct ScriptMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case urls, write, verify, handler
    }

    /// The URLs of the pages: absolute, http or https.
    package let urls: [String]
    /// When a cookie is set: `once`, `missing` or `always`.
    package let write: String?
    /// Whether the value of the script reports each cookie.
    package let verify: Bool?
    /// The message handler that gets the report instead.
    package let handler: String?
}

extension ScriptDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        urls: [String], _ details: RequestDetails = RequestDetails(), write: String? = nil, verify: Bool? = nil,
        handler: String? = nil
    ) {
        self.init(ScriptMembers(urls: urls, write: write, verify: verify, handler: handler), details)
    }
}

/// The cookies to export, and the format.
package typealias ExportDocument = Detailed<ExportMembers>

/// The members of ``ExportDocument`` besides the details of the request.
package struct ExportMembers: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case format, url, sites, names, httpOnly, session, report, reportFirst
    }

    /// The name of a format, as `crumb export` takes it.
    package let format: String
    /// The URL of the request that the cookies are for; `nil` for all cookies. Formats for one URL need it.
    package let url: String?
    /// The domains whose cookies are exported, with their subdomains; `nil` for all.
    package let sites: [String]?
    /// The names of the cookies to export; `nil` for all.
    package let names: [String]?
    /// Whether the cookies to export are HttpOnly; `nil` for all.
    package let httpOnly: Bool?
    /// Whether the cookies to export are session cookies; `nil` for all.
    package let session: Bool?
    /// Whether only the report is requested.
    package let report: Bool?
    /// Whether the response begins with a line that holds the report, followed by the exported file.
    package let reportFirst: Bool?
}

extension ExportDocument {
    /// Creates the document. Members that are `nil` are left out.
    package init(
        format: String, url: String? = nil, _ details: RequestDetails = RequestDetails(), sites: [String]? = nil,
        names: [String]? = nil, httpOnly: Bool? = nil, session: Bool? = nil, report: Bool? = nil,
        reportFirst: Bool? = nil
    ) {
        self.init(
            ExportMembers(
                format: format, url: url, sites: sites, names: names, httpOnly: httpOnly, session: session,
                report: report, reportFirst: reportFirst), details)
    }
}
