/// Reads what curl writes with `--dump-header` while one URL is fetched: header blocks only, no bodies, so that every
/// line is known for what it is. A capture from elsewhere is not that sure; ``Captures`` reads those.
///
/// There are several blocks where informational responses, challenges or retries came first. Lines outside of a block
/// are the trailer fields of a chunked body, and set nothing.
struct HeaderDumpReader {
    private var line: [UInt8] = []
    private var block: ResponseBlock?
    /// The field at hand, which a folded line may still add to.
    private var field: [UInt8] = []

    /// Takes the next bytes and gives out the blocks that are complete with them.
    mutating func read(_ bytes: [UInt8]) -> [ResponseBlock] {
        var blocks: [ResponseBlock] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            line += rest[..<end]
            rest = rest[(end + 1)...]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let complete = takeLine() { blocks.append(complete) }
            line = []
        }
        line += rest
        return blocks
    }

    private mutating func takeLine() -> ResponseBlock? {
        guard block != nil else {
            block = ResponseBlock(statusLine: line)
            return nil
        }
        if let first = line.first, first == 0x20 || first == 0x09 {
            // A folded line goes on with the field before it (RFC 9112, section 5.2).
            if !field.isEmpty { field += [0x20] + line.drop { $0 == 0x20 || $0 == 0x09 } }
            return nil
        }
        if !field.isEmpty { block?.take(field) }
        field = line
        guard line.isEmpty else { return nil }
        defer { block = nil }
        return block
    }
}
