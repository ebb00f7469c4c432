import HTTPMessages
import WebPrimitives

extension PackageBuilder {
    private static let selection = HARSelection([
        .creatorName, .method, .url, .requestFields, .status, .error, .responseFields, .cookies, .encoding,
        .contentEncoding, .text,
    ]) { name, _ in !name.isEmpty }

    /// Adds the responses of a HAR. An entry without a body that can be read is left out.
    ///
    /// - Throws: ``PackageError/Code/invalid`` if it is no HAR.
    package mutating func add(har octets: [UInt8]) throws(PackageError) {
        var entries = HAREntries(PackageBuilder.selection)
        for entry in entries.read(octets.span) { try add(entry, of: octets) }
        guard entries.hasEntries, entries.isComplete else {
            throw .invalid("the file is no complete HAR; record it again")
        }
    }

    private mutating func add(_ entry: HAREntry, of document: [UInt8]) throws(PackageError) {
        guard let text = entry[.url].text, let url = try? RequestURL(text) else {
            return omit(entry[.url].text.map { String($0.prefix(60)) } ?? "an entry", "its URL is not http or https")
        }
        let shown = SecretRedaction.url(String(decoding: url.withoutQuery, as: UTF8.self))
        // A recording has the mark in place of the secret.
        guard SecretRedaction.places(inURL: Array(text.utf8)[...]).isEmpty else {
            return omit(shown, "its URL has a secret")
        }
        let (request, fields) = (
            PackageBuilder.fields(entry.requestFields), PackageBuilder.fields(entry.responseFields)
        )
        guard !entry.requestFields.isOverfull, !entry.responseFields.isOverfull else {
            return omit(shown, "its fields are too long")
        }
        var response = Response(url: url, fields: fields, body: [])
        response.method = entry[.method].text ?? ""
        response.status = entry[.status].integer ?? 0
        response.hasCredentials =
            (request + fields).contains { SecretNames.secrets.contains(field: $0.name) }
            || !entry.cookies.elements.isEmpty
        // What is left out anyway needs no body.
        if response.method == "GET", response.status == 200 {
            guard let body = PackageBuilder.body(of: entry, fields, document) else {
                return omit(shown, "the recording has no body for it that can be read")
            }
            response.body = body
        }
        try add(response)
    }

    /// The fields of a message, their names in lower case. Browsers join several lines of one name with line feeds.
    private static func fields(_ fields: HARFields) -> [PackageManifest.Field] {
        fields.elements.flatMap { field -> [PackageManifest.Field] in
            guard let field, let name = field.name.text, let value = field.value.text else { return [] }
            return value.split(separator: "\n").map { PackageManifest.Field(name.lowercased(), String($0)) }
        }
    }

    /// The body as the page gets it, without a content coding.
    private static func body(
        of entry: HAREntry, _ fields: [PackageManifest.Field], _ document: [UInt8]
    ) -> [UInt8]? {
        guard let start = entry.text?.start else { return nil }
        var text = HARBodyText(isBase64: entry[.encoding].text == "base64")
        var (body, position) = ([UInt8](), start)
        while !text.isComplete {
            let piece = Array(document[position..<min(position + (1 << 16), document.count)])
            guard !piece.isEmpty, let octets = text.decode(piece) else { return nil }
            position += piece.count
            body += octets
        }
        // Crumb records the octets that were sent, and others decode them.
        guard !entry[.contentEncoding].isAbsent else { return body }
        let limit = Int(PackageLimits().resourceLength)
        for coding in codings(fields).reversed() {
            switch coding {
            case "identity", "": continue
            case "gzip", "x-gzip":
                guard let decoded = try? Inflate.gzip(body, limit: limit) else { return nil }
                body = decoded
            case "deflate":
                guard
                    let decoded = (try? Inflate.zlib(body, limit: limit)) ?? (try? Inflate.raw(body, limit: limit))
                else { return nil }
                body = decoded
            default: return nil
            }
        }
        return body
    }

    private static func codings(_ fields: [PackageManifest.Field]) -> [String] {
        fields.filter { $0.name == "content-encoding" }.flatMap { $0.value.split(separator: ",") }
            .map { $0.filter { $0 != " " }.lowercased() }
    }
}
