import WebPrimitives

/// The names in the `cookies` of a response, as witnesses only: what they say of values and attributes is not read.
///
/// mitmproxy up to version 8 joins all Set-Cookie lines of a response with a comma and a space, which values and dates
/// may hold as well. Its `cookies` still has one member for each line, in order, so that the lines can be cut apart in
/// front of each name.
struct HARCookieNames {
    /// More names than any response has; a list that is longer is of no use.
    private static let limit = 1000

    private var names: [[UInt8]] = []

    /// How many bytes are held.
    var bufferedByteCount: Int { names.reduce(0) { $0 + $1.capacity } }

    /// Whether one Set-Cookie value can only be several lines joined.
    var areSeveral: Bool { names.count > 1 }

    /// How many there are, as far as they are counted.
    var count: Int { names.count }

    mutating func append(_ name: Span<UInt8>) {
        guard names.count <= HARCookieNames.limit else { return }
        var bytes: [UInt8] = []
        if name.count <= 4096 { bytes.append(name) }
        names.append(bytes)
    }

    /// Notes a name that is too long to be one: nothing can be cut in front of it.
    mutating func appendUnusable() {
        names.append([])
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
    }

    /// Where each line begins and ends in a joined value; `nil` where not every name is found in its turn.
    func lines(in value: Span<UInt8>) -> [Range<Int>]? {
        guard names.count <= HARCookieNames.limit, let first = names.first, isPair(first, in: value, at: 0)
        else { return nil }
        var lines: [Range<Int>] = []
        var start = 0
        for name in names.dropFirst() {
            var comma = value.firstIndex(of: ASCII.comma, from: start)
            while let found = comma, !(isSpace(value, at: found + 1) && isPair(name, in: value, at: found + 2)) {
                comma = value.firstIndex(of: ASCII.comma, from: found + 1)
            }
            guard let comma else { return nil }
            lines.append(start..<comma)
            start = comma + 2
        }
        return lines + [start..<value.count]
    }

    private func isSpace(_ value: Span<UInt8>, at position: Int) -> Bool {
        position < value.count && value[position] == ASCII.space
    }

    /// Whether `name=` stands at `position`. A name that is empty could stand anywhere.
    private func isPair(_ name: [UInt8], in value: Span<UInt8>, at position: Int) -> Bool {
        guard !name.isEmpty, position + name.count < value.count, value[position + name.count] == UInt8(ascii: "=")
        else { return false }
        for offset in name.indices where value[position + offset] != name[offset] { return false }
        return true
    }
}
