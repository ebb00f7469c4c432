import RequestDecoration

// What an option says about the request's body.
extension CurlOption {
    /// The options that make a POST of the request.
    static let bodyNames: Set = [
        "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "form", "form-string", "json",
    ]

    /// The options that go when the body goes.
    static let bodyOptions: Set = bodyNames.union(["form-escape", "request", "upload-file"])

    /// The header fields that go when the body goes: those that describe it.
    static let bodyFields = Set(RedirectChain.bodyFieldNames)

    /// The files that the option takes from, `-` for standard input.
    private var files: [String] {
        guard let value else { return [] }
        let text = String(decoding: value, as: UTF8.self)
        switch name {
        case "data", "data-ascii", "data-binary", "json", "proxy-header":
            return text.hasPrefix("@") ? [String(text.dropFirst())] : []
        case "data-urlencode", "url-query":
            // NAME@FILE; behind an equals sign everything is content.
            guard let mark = text.firstIndex(where: { $0 == "@" || $0 == "=" }), text[mark] == "@" else { return [] }
            return [String(text[text.index(after: mark)...])]
        case "upload-file":
            return [CurlTarget.isStandardInput(value) ? "-" : text]
        case "form":
            // NAME=@FILE,FILE;type=… and NAME=<FILE
            guard let equals = text.firstIndex(of: "=") else { return [] }
            let content = text[text.index(after: equals)...]
            guard content.hasPrefix("@") || content.hasPrefix("<") else { return [] }
            return content.dropFirst().prefix { $0 != ";" }.split(separator: ",").map {
                String($0.filter { $0 != "\"" })
            }
        default:
            return []
        }
    }

    /// Whether it takes standard input.
    var readsStandardInput: Bool { files.contains("-") }

    /// The files it takes, other than standard input.
    var bodyFiles: [String] { files.filter { $0 != "-" } }
}
