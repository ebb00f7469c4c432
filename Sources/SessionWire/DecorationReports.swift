public import WebPrimitives

/// The header fields to set on a request, the cookies in them, and why other cookies and fields are left out.
public struct DecorationReport: Codable, Sendable {
    /// A cookie that is not sent.
    public struct Exclusion: Codable, Sendable {
        /// The cookie, if its stored value cannot be read.
        public let cookie: CookieIdentityReport?
        /// The name.
        public let name: String
        /// The identifiers of the reasons.
        public let reasons: [String]

        package init(name: String, reasons: [String]) {
            cookie = nil
            self.name = name
            self.reasons = reasons
        }
    }

    /// A header field of the jar that is for the URL and is not sent.
    public struct OmittedField: Codable, Sendable {
        /// The name.
        public let name: String
        /// The identifier of the reason.
        public let reason: String
        /// The beginning of the URLs that the field is for; `nil` for all URLs.
        public let scope: String?

        package init(name: String, reason: String, scope: String?) {
            self.name = name
            self.reason = reason
            self.scope = scope
        }
    }

    /// The cookies that are not sent.
    public let excluded: [Exclusion]
    /// The fields to set: `cookie` first if there is one.
    public let fields: [HeaderFieldReport]
    /// The names of the cookies that are sent.
    public let included: [String]
    /// The header fields of the jar that are not sent; `nil` if all are.
    package let omittedFields: [OmittedField]?
    /// The login rule by which the request is signed in again; only in the answer to a renewal.
    public let rule: String?
    /// Whether the request may be sent again: its method is safe, or the site has certainly not acted on it (RFC 9110,
    /// section 9.2.2). Only in the answer to a renewal.
    public let mayRepeat: Bool?

    /// The octets of the Cookie field; empty if no cookie is sent.
    public var cookieString: Octets { fields.first { $0.name == "cookie" }?.octets ?? [] }
}

/// A header field: the value is present only if it was requested.
public struct HeaderFieldReport: Codable, Sendable {
    /// The name.
    public let name: String
    /// The beginning of the URLs that the field is for; `nil` for all URLs.
    package let scope: String?
    /// The value.
    public let value: String?
    /// The value in Base64 if it is not UTF-8.
    package let valueBase64: String?
    /// `true` if the stored value cannot be read; otherwise `nil`.
    package let isDamaged: Bool?

    /// The report from its parts.
    package init(name: String, scope: String?, value: Octets?, isDamaged: Bool = false) {
        let value = value.map(OctetsReport.init)
        self.name = name
        self.scope = scope
        self.value = value?.text
        valueBase64 = value?.base64
        self.isDamaged = isDamaged ? true : nil
    }

    /// The octets of the value, which ``value`` has only if they are UTF-8; empty if the value is not in the report.
    public var octets: Octets { OctetsReport(text: value, base64: valueBase64).octets }
}

/// The header fields that are stored with a jar.
package struct HeaderFieldList: Codable, Sendable {
    /// The header fields.
    package let fields: [HeaderFieldReport]

    package init(fields: [HeaderFieldReport]) {
        self.fields = fields
    }
}

/// Whether a jar's header field is sent with a request, without its value.
package struct FieldVerdictReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// The beginning of the URLs that the field is for; `nil` for all URLs.
    package let scope: String?
    /// Whether the field is sent.
    package let isSent: Bool
    /// Why the field is not sent; `nil` if it is sent.
    package let reason: ReasonReport?

    package init(name: String, scope: String? = nil, isSent: Bool, reason: ReasonReport? = nil) {
        self.name = name
        self.scope = scope
        self.isSent = isSent
        self.reason = reason
    }
}

/// An injection script, and the cookies that it cannot set.
package struct ScriptReport: Codable, Sendable {
    /// A cookie of a page that the script does not set.
    package struct Omission: Codable, Sendable {
        /// The URL.
        package let url: String
        /// The cookie.
        package let cookie: CookieReport
        /// The reasons.
        package let reasons: [ReasonReport]

        package init(url: String, cookie: CookieReport, reasons: [ReasonReport]) {
            self.url = url
            self.cookie = cookie
            self.reasons = reasons
        }
    }

    /// The URLs of the pages.
    package let urls: [String]
    /// The JavaScript source.
    package let script: String
    /// The cookies.
    package let cookies: [CookieReport]
    /// Those of ``cookies`` that belong to other paths: no script of the pages can see whether they are set; `nil` from
    /// an older service.
    package let unverifiable: [CookieIdentityReport]?
    /// How many items of `localStorage` the script sets.
    package let storageItems: Int
    /// How many items it does not set because their stored value cannot be read.
    package let storageItemsUnreadable: Int
    /// The cookies that the script cannot set.
    package let omitted: [Omission]

    package init(
        urls: [String], script: String, cookies: [CookieReport], unverifiable: [CookieIdentityReport]? = nil,
        storageItems: Int, storageItemsUnreadable: Int, omitted: [Omission]
    ) {
        self.urls = urls
        self.script = script
        self.cookies = cookies
        self.unverifiable = unverifiable
        self.storageItems = storageItems
        self.storageItemsUnreadable = storageItemsUnreadable
        self.omitted = omitted
    }
}

/// A script that reports a page's cookies to a message handler.
package struct CaptureScriptReport: Codable, Sendable {
    /// The name of the message handler.
    package let handler: String
    /// The JavaScript source.
    package let script: String

    package init(handler: String, script: String) {
        self.handler = handler
        self.script = script
    }
}

/// The origins whose `localStorage` a jar holds, and the items of the origin that was requested.
package struct WebStorageList: Codable, Sendable {
    /// An origin with items.
    package struct Origin: Codable, Sendable {
        /// The origin.
        package let origin: String
        /// How many items the origin has.
        package let items: Int
        /// The octets of all keys and values.
        package let octets: Int

        package init(origin: String, items: Int, octets: Int) {
            self.origin = origin
            self.items = items
            self.octets = octets
        }
    }

    /// An item of `localStorage`.
    package struct Item: Codable, Sendable {
        /// The origin.
        package let origin: String
        /// The key; `nil` if it is not UTF-8.
        package let key: String?
        /// The key in Base64 if it is not UTF-8.
        package let keyBase64: String?
        /// The value, if values were requested.
        package let value: String?
        /// The value in Base64 if it is not UTF-8.
        package let valueBase64: String?
        /// `true` if the stored value cannot be read; otherwise `nil`.
        package let isDamaged: Bool?

        package init(
            origin: String, key: String? = nil, keyBase64: String? = nil, value: String? = nil,
            valueBase64: String? = nil, isDamaged: Bool? = nil
        ) {
            self.origin = origin
            self.key = key
            self.keyBase64 = keyBase64
            self.value = value
            self.valueBase64 = valueBase64
            self.isDamaged = isDamaged
        }

        /// The octets of the key.
        package var keyOctets: Octets { OctetsReport(text: key, base64: keyBase64).octets }

        /// The octets of the value; empty if the value is not in the report.
        package var valueOctets: Octets { OctetsReport(text: value, base64: valueBase64).octets }
    }

    /// The origins.
    package let origins: [Origin]
    /// The items of the requested origin.
    package let items: [Item]?

    package init(origins: [Origin], items: [Item]? = nil) {
        self.origins = origins
        self.items = items
    }
}

/// How many items of `localStorage` were removed.
package struct WebStorageRemoval: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// How many items were removed.
    package let removed: Int

    package init(jar: String, removed: Int) {
        self.jar = jar
        self.removed = removed
    }
}
