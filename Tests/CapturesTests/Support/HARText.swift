/// Writes small HAR documents.
enum HARText {
    /// A document with these entries.
    static func document(_ entries: String...) -> String {
        #"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",") + "]}}"
    }

    /// An entry whose response has these headers, each the JSON text of its value.
    static func entry(
        url: String = "https://a.test/", status: String = "200", setCookie values: String...
    ) -> String {
        let headers = values.map { #"{"name":"Set-Cookie","value":\#($0)}"# }.joined(separator: ",")
        return #"{"request":{"method":"GET","url":"\#(url)"},"response":{"status":\#(status),"headers":[\#(headers)]}}"#
    }

    /// An entry with this text as its response.
    static func entry(response: String) -> String {
        #"{"request":{"method":"GET","url":"https://a.test/"},"response":\#(response)}"#
    }
}
