import HTTPMessages
import Testing
import WebPrimitives

@Suite("The entries of a HAR")
struct HAREntriesTests {
    private static let selection = HARSelection([.creatorName, .url, .requestFields, .postText, .status, .text]) {
        name, _ in name.equals("A")
    }

    /// What the tests see of an entry.
    private struct Seen: Equatable {
        var url: String?
        var place: Range<Int>
        var text: String?
        var fields: [String?]

        init(_ entry: HAREntry, in document: [UInt8]) {
            url = entry[.url].text
            place = entry.place
            fields = entry.requestFields.elements.map { $0?.value.text }
            text = entry.text.map { start, isEmpty in
                isEmpty ? "" : String(decoding: document[start...].prefix { $0 != ASCII.quote }, as: UTF8.self)
            }
        }
    }

    private static func entries(_ text: String, pieceLength: Int = .max, entryAt offset: Int? = nil) -> [Seen] {
        let document = Array(text.utf8)
        var reader = offset.map { HAREntries(selection, entryAt: $0) } ?? HAREntries(selection)
        var seen: [Seen] = []
        var start = offset ?? 0
        while start < document.count {
            let end = pieceLength < document.count - start ? start + pieceLength : document.count
            seen += reader.read(document.span.extracting(start..<end)).map { Seen($0, in: document) }
            start = end
        }
        return seen
    }

    private static let document = """
        {"x": {"log": [{}]}, "log": {"creator": {"name": "t"}, "entries": [ 7,
         {"request": {"url": "u1", "headers": [{"value": "1", "name": "A"}, {"name": "B", "value": "2"}, "C"]},
          "response": {"status": 200, "content": {"x": "{\\"}", "text": "body {} \\u00fc"}}, "text": "no"},
         {"response": {"content": {"text": ""}}, "request": {"url": "old", "url": "u2"}},
         {"request": {"url": "u3"}, "response": {"content": {"text": "old"}, "content": {"text": null}}}]}}
        """

    @Test("An entry knows where it and its body are, wherever the pieces are cut")
    func places() {
        let whole = Self.entries(Self.document)
        #expect(whole.map(\.url) == [nil, "u1", "u2", "u3"])
        #expect(whole.map(\.text) == [nil, #"body {} \u00fc"#, "", nil])
        #expect(whole.map(\.fields) == [[], ["1", nil], [], []])
        for entry in whole.dropFirst() {
            let text = Array(Self.document.utf8)[entry.place]
            #expect(text.first == ASCII.leftBrace && text.last == ASCII.rightBrace)
            let value = JSONValue(parsing: Array(text).span)
            #expect(value?.object != nil)
        }
        for length in 1...Self.document.utf8.count {
            #expect(Self.entries(Self.document, pieceLength: length) == whole, "pieces of \(length)")
        }
    }

    @Test("A single entry is read from where it begins, with the same places", arguments: [1, 2, 3])
    func single(index: Int) {
        let entry = Self.entries(Self.document)[index]
        #expect(Self.entries(Self.document, entryAt: entry.place.lowerBound).first == entry)
        #expect(Self.entries(Self.document, pieceLength: 1, entryAt: entry.place.lowerBound).first == entry)
    }

    @Test("Only the fields and members that are selected are held")
    func selected() throws {
        let long = String(repeating: "x", count: 100_000)
        let text =
            #"{"log":{"entries":[{"request":{"method":"\#(long)","headers":[{"name":"B","value":"\#(long)"}]},"#
            + #""response":{"content":{"text":"\#(long)"}}}]}}"#
        var reader = HAREntries(HARSelection([.url, .requestFields]) { name, _ in name.equals("A") })
        let entry = try #require(reader.read(Array(text.utf8).span).first)
        #expect(entry.requestFields.elements.isEmpty)
        #expect(entry[.method].isAbsent)
        #expect(reader.bufferedByteCount < 1000)
    }

    @Test("The fields of a message are bounded, and the entry says that some are left out")
    func bounded() throws {
        let value = String(repeating: "x", count: 1_000_000)
        let field = #"{"name":"A","value":"\#(value)"}"#
        let text = #"{"log":{"entries":[{"request":{"headers":[@]}}]}}"#
            .replacing("@", with: Array(repeating: field, count: 20).joined(separator: ","))
        var reader = HAREntries(Self.selection)
        let entry = try #require(reader.read(Array(text.utf8).span).first)
        #expect(entry.requestFields.elements.count == 16 && entry.requestFields.isOverfull)
    }

    @Test("The names of cookies are bounded, too, while they are read")
    func boundedNames() {
        let cookie = #"{"name":"\#(String(repeating: "x", count: 1_000_000))"}"#
        var reader = HAREntries(HARSelection([.cookies]) { _, _ in false })
        _ = reader.read(Array(#"{"log":{"entries":[{"response":{"cookies":["#.utf8).span)
        for _ in 0..<20 { _ = reader.read(Array("\(cookie),".utf8).span) }
        #expect((10_000_000...20_000_000).contains(reader.bufferedByteCount))
    }

    @Test("Octets that are not UTF-8 are written as Python does in values, and as U+FFFD in names")
    func pairs() {
        let pair = HARText.pair([0x61, 0xFF], [0x62, 0xE9, 0x22])
        #expect(String(decoding: pair, as: UTF8.self) == "{\"name\":\"a\u{FFFD}\",\"value\":\"b\\uDCE9\\\"\"}")
    }
}
