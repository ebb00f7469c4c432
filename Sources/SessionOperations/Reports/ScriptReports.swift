package import CookieModel
package import RequestDecoration
package import SessionStore

extension ScriptReport {
    /// The script for the pages of a jar.
    package init(
        of jar: CookieJar, for pages: [RequestContext], writing: InjectionScript.Writing,
        verification: InjectionScript.Verification, now: Timestamp
    ) throws {
        let storage = try jar.webStorage(of: pages.map(\.url))
        let script = InjectionScript(
            try pages.map { page in
                InjectionScript.Page(try jar.retrieve(for: page.scriptWriting, now: now), in: page.scriptWriting)
            },
            storage: storage.readable, writing: writing, verification: verification)
        self.init(pages.map(\.url), script, storageItemsUnreadable: storage.unreadable.count)
    }

    package init(_ pages: [RequestURL], _ script: InjectionScript, storageItemsUnreadable: Int = 0) {
        self.init(
            urls: pages.map(\.description), script: script.source,
            cookies: script.cookies.map { CookieReport($0, showingValue: false) },
            unverifiable: script.unverifiable.map { CookieIdentityReport($0) }, storageItems: script.storageItemCount,
            storageItemsUnreadable: storageItemsUnreadable,
            omitted: script.omissions.map { omission in
                Omission(
                    url: omission.page.description, cookie: CookieReport(omission.cookie, at: nil),
                    reasons: zip(omission.identifiers, omission.explanations).map {
                        ReasonReport(id: $0, explanation: $1)
                    })
            })
    }
}

extension CaptureScriptReport {
    /// The script that tells the handler of that name.
    package init(_ script: CaptureScript, handler: MessageHandlerName) {
        self.init(handler: handler.description, script: script.source)
    }
}

extension WebStorageList {
    /// The storage of a jar.
    ///
    /// - Parameter origin: the origin whose items are listed; `nil` for the origins alone.
    package init(_ jar: CookieJar, ofOrigin origin: String?, showingValues: Bool) throws(SessionStoreError) {
        let origins = try jar.webStorageOrigins().filter { origin == nil || $0.origin == origin }.map {
            Origin(origin: $0.origin, items: $0.items, octets: $0.octets)
        }
        guard let origin else {
            self.init(origins: origins)
            return
        }
        let (readable, unreadable) = try jar.webStorage(ofOrigin: origin)
        self.init(
            origins: origins,
            items: readable.map { Item($0, showingValue: showingValues) } + unreadable.map { Item(damaged: $0) })
    }
}

extension WebStorageList.Item {
    init(_ item: WebStorageItem, showingValue: Bool) {
        let value = showingValue ? OctetsReport(item.value) : nil
        self.init(item, value, isDamaged: nil)
    }

    /// An item whose stored value cannot be read back.
    package init(damaged item: WebStorageItem) {
        self.init(item, nil, isDamaged: true)
    }

    private init(_ item: WebStorageItem, _ value: OctetsReport?, isDamaged: Bool?) {
        let key = OctetsReport(item.key)
        self.init(
            origin: item.origin, key: key.text, keyBase64: key.base64, value: value?.text, valueBase64: value?.base64,
            isDamaged: isDamaged)
    }

    /// That the value cannot be read back, for a person.
    package var unreadableLine: String {
        "localStorage item '\(keyOctets)' of \(origin): \(ExclusionReason.unreadable.explanation)"
    }
}
