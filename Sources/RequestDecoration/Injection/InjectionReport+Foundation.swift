import Foundation

extension InjectionReport {
    /// Reads what an ``InjectionScript`` said, as its value or in a message.
    ///
    /// Strict, and at most 256 KiB and 1024 cookies.
    public init(_ text: String) throws(ScriptMessageError) {
        let document = try ScriptMessage.decode(InjectionReportDocument.self, text)
        page = document.page
        cookies = document.entries.map(\.entry)
    }
}

private struct InjectionReportDocument: Decodable {
    let page: String
    let entries: [EntryDocument]

    init(from decoder: any Decoder) throws {
        let object = try ScriptMessageObject(decoder, ["crumb", "page", "cookies"])
        guard try object.text("crumb", limit: 16) == "injection" else { throw object.malformed("crumb") }
        page = try object.requiredText("page", limit: 1024)
        entries = try object.list("cookies", of: EntryDocument.self, limit: 1024)
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
