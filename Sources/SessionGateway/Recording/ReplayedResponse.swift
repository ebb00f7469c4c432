import HTTPMessages
import RequestDecoration
import WebPrimitives

/// The response of an entry in a HAR, as a server would send it.
struct ReplayedResponse {
    /// The members that are read of a HAR.
    static let selection = HARSelection([
        .creatorName, .method, .url, .requestFields, .postText, .postEncoding, .postOwnEncoding, .status, .statusText,
        .error, .responseFields, .size, .encoding, .contentEncoding, .text,
    ]) { name, _ in !name.isEmpty }

    let response: ForwardedResponse
    /// Where the text of its body is in the file; `nil` if it has none.
    let text: Int?
    let isBase64: Bool

    /// - Parameter creator: The program that wrote the HAR.
    /// - Returns: `nil` if there is no status.
    init?(_ entry: HAREntry, creator: String, toHead isToHead: Bool) {
        guard let status = entry[.status].integer, (200...599).contains(status) else { return nil }
        let hasBody = !isToHead && status != 204 && status != 304
        isBase64 = entry[.encoding].text == "base64"
        // Crumb writes the octets that were sent; others decode them, and make UTF-8 of a text.
        let isOwn = creator == "crumb"
        var head = Array("HTTP/1.1 \(status) ".utf8)
        head += (entry[.statusText].octets ?? []).filter { $0 >= 0x20 && $0 < 0x7F }
        head += [ASCII.carriageReturn, ASCII.lineFeed]
        for (name, value) in ReplayedResponse.fields(entry.responseFields, creator: creator) {
            switch name {
            case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "trailer", "upgrade": continue
            case "content-length" where hasBody: continue
            case "content-encoding" where entry[.contentEncoding].isAbsent && hasBody: continue
            case "content-type" where !isOwn && !isBase64 && hasBody:
                head.append(field: name, ReplayedResponse.inUTF8(value))
            default: head.append(field: name, value)
            }
        }
        if hasBody, entry.text == nil { head.append(field: "Content-Length", "0") }
        head += [ASCII.carriageReturn, ASCII.lineFeed]
        guard let parsed = try? MessageHead(head, from: .server),
            let response = try? ForwardedResponse(parsed, toHead: isToHead)
        else { return nil }
        self.response = response
        text = hasBody ? entry.text?.start : nil
    }

    /// The fields of a message, their names in lower case. Browsers join several lines of one name with line feeds;
    /// mitmproxy 8 does with commas.
    static func fields(_ fields: HARFields, creator: String = "") -> [(name: String, value: Octets)] {
        fields.elements.flatMap { field -> [(String, Octets)] in
            guard let name = field?.name.octets, let value = field?.value.octets,
                name.allSatisfy(ASCII.isTokenCharacter)
            else { return [] }
            let lowercased = String(decoding: name.lowercased, as: UTF8.self)
            var lines = value.split(separator: ASCII.lineFeed).map { Octets(Array($0)).trimmingBlanks }
            if lowercased == "set-cookie", creator == "mitmproxy har_dump" {
                lines = lines.flatMap { JoinedSetCookie($0).lines }
            }
            if value.isEmpty { lines = [[]] }
            return lines.filter { !$0.contains(ASCII.carriageReturn) && !$0.contains(0) }.map { (lowercased, $0) }
        }
    }

    /// The media type of a text after its conversion to UTF-8.
    private static func inUTF8(_ type: Octets) -> Octets {
        let parts = type.split(separator: ASCII.semicolon).map { Octets(Array($0)).trimmingBlanks }
        guard parts.dropFirst().contains(where: { $0.withSpan { $0.hasPrefixIgnoringCase("charset=") } }) else {
            return type
        }
        let changed = parts.map { part in
            part.withSpan { $0.hasPrefixIgnoringCase("charset=") } ? Octets("charset=utf-8") : part
        }
        return Octets(Array(changed.map(\.bytes).joined(separator: Array("; ".utf8))))
    }
}
