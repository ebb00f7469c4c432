package import CookieModel
package import SessionStore

/// The origins whose `localStorage` a jar holds, in JSON; with the items of the one that was asked for.
package struct WebStorageList: Codable, Sendable {
    package struct Origin: Codable, Sendable {
        package let origin: String
        package let items: Int
        /// How many octets keys and values take.
        package let octets: Int
    }

    package struct Item: Codable, Sendable {
        package let origin: String
        /// The key; in Base64 if it is not UTF-8.
        package let key: String?
        package let keyBase64: String?
        /// The value, if values were asked for; in Base64 if it is not UTF-8.
        package let value: String?
        package let valueBase64: String?
        /// Set if the stored value cannot be read back.
        package let isDamaged: Bool?

        init(_ item: WebStorageItem, showingValue: Bool) {
            self.init(item, showingValue: showingValue, isDamaged: false)
        }

        private init(_ item: WebStorageItem, showingValue: Bool, isDamaged: Bool) {
            let key = OctetsReport(item.key)
            let value = showingValue && !isDamaged ? OctetsReport(item.value) : nil
            origin = item.origin
            (self.key, keyBase64) = (key.text, key.base64)
            (self.value, valueBase64) = (value?.text, value?.base64)
            self.isDamaged = isDamaged ? true : nil
        }

        /// An item whose stored value cannot be read back.
        package init(damaged item: WebStorageItem) {
            self.init(item, showingValue: false, isDamaged: true)
        }

        /// The octets of the key.
        package var keyOctets: Octets { OctetsReport(text: key, base64: keyBase64).octets }

        /// The octets of the value; none if it is not shown.
        package var valueOctets: Octets { OctetsReport(text: value, base64: valueBase64).octets }

        /// That the value cannot be read back, for a person.
        package var unreadableLine: String {
            "localStorage item '\(keyOctets)' of \(origin): \(ExclusionReason.unreadable.explanation)"
        }
    }

    package let origins: [Origin]
    package var items: [Item]?

    package init(origins: [Origin]) {
        self.origins = origins
    }

    /// The storage of a jar.
    ///
    /// - Parameter origin: the origin whose items are listed; `nil` for the origins alone.
    package init(_ jar: CookieJar, ofOrigin origin: String?, showingValues: Bool) throws(SessionStoreError) {
        origins = try jar.webStorageOrigins().filter { origin == nil || $0.origin == origin }.map {
            Origin(origin: $0.origin, items: $0.items, octets: $0.octets)
        }
        guard let origin else { return }
        let (readable, unreadable) = try jar.webStorage(ofOrigin: origin)
        items =
            readable.map { Item($0, showingValue: showingValues) }
            + unreadable.map { Item(damaged: $0) }
    }
}

/// How many items of `localStorage` were removed, in JSON.
package struct WebStorageRemoval: Codable, Sendable {
    package let jar: String
    package let removed: Int

    package init(jar: String, removed: Int) {
        self.jar = jar
        self.removed = removed
    }
}
