extension InjectionReport {
    /// Reads the report of an ``InjectionScript``, from its value or its message.
    ///
    /// Strict, and at most 256 KiB and 1024 cookies.
    package init(_ text: String) throws(ScriptMessageError) {
        let document = try ScriptMessage.decode(InjectionReportDocument.self, text)
        page = document.page
        cookies = document.entries.map(\.entry)
        storage = document.storage
    }
}

private struct InjectionReportDocument: Decodable {
    let page: String
    let entries: [EntryDocument]
    let storage: [InjectionReport.State: Int]

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(decoder, ["crumb", "page", "cookies", "storage"])
        guard try object.text("crumb", limit: 16) == "injection" else { throw object.malformed("crumb") }
        page = try object.requiredText("page", limit: 1024)
        entries = try object.list("cookies", of: EntryDocument.self, limit: 1024)
        storage = try object.member("storage", of: StorageDocument.self)?.counts ?? [:]
    }
}

/// How many items of `localStorage` have each state.
private struct StorageDocument: Decodable {
    private static let states: [InjectionReport.State] = [.set, .present, .kept, .given, .refused, .blocked]

    let counts: [InjectionReport.State: Int]

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(decoder, Set(StorageDocument.states.map(\.rawValue)))
        var counts: [InjectionReport.State: Int] = [:]
        for state in StorageDocument.states {
            guard let number = try object.number(state.rawValue) else { continue }
            guard let count = Int(exactly: number), (0...1_000_000).contains(count) else {
                throw object.malformed(state.rawValue)
            }
            if count > 0 { counts[state] = count }
        }
        self.counts = counts
    }
}

private struct EntryDocument: Decodable {
    let entry: InjectionReport.Entry

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(decoder, ["name", "domain", "path", "state"])
        guard let state = InjectionReport.State(rawValue: try object.requiredText("state", limit: 16)) else {
            throw object.malformed("state")
        }
        entry = InjectionReport.Entry(
            name: try object.requiredText("name", limit: 16_384),
            domain: try object.requiredText("domain", limit: 1024),
            path: try object.requiredText("path", limit: 16_384), state: state)
    }
}
