import HTTPMessages
import WebPrimitives

/// The names in the `cookies` of a response. They only show where a line begins: their values and attributes are not
/// read.
///
/// mitmproxy up to version 8 joins all Set-Cookie lines of a response with a comma and a space, which values and dates
/// may contain as well. Its `cookies` still has one member for each line, in order, so that the lines can be split
/// before each name.
struct HARCookieNames {
    /// More names than any response has; a list that is longer is of no use.
    private static let limit = 1000

    private let names: [Octets]

    init(_ cookies: HARFields) {
        let names = cookies.elements.lazy.compactMap { cookie -> Octets? in
            switch cookie?.name {
            case .string(let name): name.count <= 4096 ? name : []
            // Nothing can be cut in front of it.
            case .tooLong: []
            default: nil
            }
        }
        self.names = Array(names.prefix(HARCookieNames.limit + 1))
    }

    /// Whether one Set-Cookie value can only be several lines joined.
    var hasMultiple: Bool { names.count > 1 }

    /// How many there are, as far as they are counted.
    var count: Int { names.count }

    /// The lines of a joined value; empty if they cannot be separated, because one wrong cookie is worse than none.
    func lines(in value: Octets) -> [Octets] {
        value.withSpan { ranges(in: $0) }?.map { value[$0] } ?? []
    }

    /// Where each line begins and ends in a joined value; `nil` if not every name is found in its turn.
    private func ranges(in value: Span<UInt8>) -> [Range<Int>]? {
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

    /// Whether the value has `name=` at `position`. An empty name never matches, because it could be anywhere.
    private func isPair(_ name: Octets, in value: Span<UInt8>, at position: Int) -> Bool {
        guard !name.isEmpty, position + name.count < value.count, value[position + name.count] == UInt8(ascii: "=")
        else { return false }
        for offset in name.indices where value[position + offset] != name[offset] { return false }
        return true
    }
}

/// How a HAR's writer made text of the octets of a header field.
enum HARTextEncoding {
    /// As UTF-8, as far as it is known.
    case utf8
    /// As windows-1252, which gives each octet one character: Chromium's developer tools, and all that ask them.
    case windows1252

    init(of entry: HAREntry) {
        self =
            switch (HARCapture.Program(entry[.creatorName]), entry[.browserName].text) {
            case (.chromiumDeveloperTools, _), (.playwright, "chromium"): .windows1252
            default: .utf8
            }
    }

    /// The characters of windows-1252 from 0x80 to 0x9F; all others have the number of their octet.
    private static let upperControls: [UInt32] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]

    /// The octets that became `text`, which is UTF-8; `text` itself if it has a character that no octet becomes.
    func octets(of text: [UInt8]) -> [UInt8] {
        guard self == .windows1252, text.contains(where: { $0 >= 0x80 }) else { return text }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if scalar.value < 0x80 || 0xA0...0xFF ~= scalar.value {
                octets.append(UInt8(scalar.value))
            } else if let place = HARTextEncoding.upperControls.firstIndex(of: scalar.value) {
                octets.append(UInt8(0x80 + place))
            } else {
                return text
            }
        }
        return octets
    }
}
