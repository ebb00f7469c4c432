package import CookieModel
package import RequestDecoration
package import SessionStore

/// An injection script in JSON, with what it cannot carry.
package struct ScriptReport: Codable {
    package struct Omission: Codable {
        package let url: String
        package let cookie: CookieReport
        package let reasons: [ReasonReport]
    }

    package let urls: [String]
    package let script: String
    package let cookies: [CookieReport]
    /// Those of ``cookies`` that belong to other paths: no script of the pages can see whether they are set; `nil` from
    /// a service that does not tell.
    package let unverifiable: [CookieIdentityReport]?
    /// How many items of `localStorage` it sets.
    package let storageItems: Int
    /// How many it does not set, since the stored value cannot be read back.
    package let storageItemsUnreadable: Int
    package let omitted: [Omission]

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
        urls = pages.map(\.description)
        self.script = script.source
        cookies = script.cookies.map { CookieReport($0, showingValue: false) }
        unverifiable = script.unverifiable.map { CookieIdentityReport($0) }
        storageItems = script.storageItemCount
        self.storageItemsUnreadable = storageItemsUnreadable
        omitted = script.omissions.map { omission in
            Omission(
                url: omission.page.description, cookie: CookieReport(omission.cookie, showingValue: false),
                reasons: zip(omission.identifiers, omission.explanations).map(ReasonReport.init))
        }
    }
}

/// A capture script in JSON.
package struct CaptureScriptReport: Codable {
    package let handler: String
    package let script: String

    /// The script that tells the handler of that name.
    package init(_ script: CaptureScript, handler: MessageHandlerName) {
        self.handler = handler.description
        self.script = script.source
    }
}

/// A line of the service's answer to a capture that is followed while it is read: how far it has come, and at last the
/// report.
package struct CaptureProgressLine: Codable {
    package struct Progress: Codable, Sendable {
        package let bytes: Int
        package let entries: Int
        package let cookies: Int

        package init(bytes: Int, entries: Int, cookies: Int) {
            self.bytes = bytes
            self.entries = entries
            self.cookies = cookies
        }
    }

    package var progress: Progress?
    package var report: ImportReport?
    package var problem: ProblemReport?

    package init(progress: Progress? = nil, report: ImportReport? = nil, problem: ProblemReport? = nil) {
        self.progress = progress
        self.report = report
        self.problem = problem
    }
}
