/// The options of the curl that is installed, as its own `--help all` lists them: what each is called, and whether it
/// takes a value. A table of our own would be wrong for every other version.
struct CurlOptionTable {
    struct Entry: Equatable {
        /// The long name, without the `no-` that the list shows of some.
        let name: String
        let takesValue: Bool
        /// Whether the list shows it switched off, as `-N, --no-buffer`: so does the letter mean it.
        let isShownOff: Bool
    }

    private var long: [String: Entry] = [:]
    private var short: [UInt8: Entry] = [:]

    /// Reads the list; `nil` where this is none.
    init?(help: [UInt8]) {
        for line in help.split(separator: UInt8(ascii: "\n")) {
            read(line)
        }
        // Every curl has these, and has had more than a hundred for twenty years.
        guard long.count > 50, long["url"]?.takesValue == true, long["location"]?.takesValue == false,
            short[UInt8(ascii: "o")]?.takesValue == true
        else { return nil }
    }

    /// ` -o, --output <file>     Write to file instead of stdout`
    private mutating func read(_ line: ArraySlice<UInt8>) {
        var rest = line.drop { $0 == UInt8(ascii: " ") }
        var letter: UInt8?
        if rest.count > 3, rest.first == UInt8(ascii: "-"), rest[rest.startIndex + 2] == UInt8(ascii: ",") {
            letter = rest[rest.startIndex + 1]
            rest = rest.dropFirst(3).drop { $0 == UInt8(ascii: " ") }
        }
        guard rest.starts(with: Array("--".utf8)) else { return }
        rest = rest.dropFirst(2)
        let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
        var name = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        let behind = end + 1 < rest.endIndex ? rest[end + 1] : nil
        let isShownOff = name.hasPrefix("no-")
        if isShownOff { name.removeFirst(3) }
        let takesValue = behind == UInt8(ascii: "<") || behind == UInt8(ascii: "[")
        let entry = Entry(name: name, takesValue: takesValue, isShownOff: isShownOff)
        long[name] = entry
        if let letter { short[letter] = entry }
    }

    /// The option with a letter.
    subscript(letter letter: UInt8) -> Entry? { short[letter] }

    /// The option with a long name, typed without its dashes; as in curl, a beginning will do that no other has.
    func entry(_ typed: String) -> (entry: Entry, isOn: Bool)? {
        var name = typed.lowercased()
        let isOn = !name.hasPrefix("no-")
        if !isOn { name.removeFirst(3) }
        if let entry = long[name] { return (entry, isOn) }
        let candidates = long.values.filter { !name.isEmpty && $0.name.hasPrefix(name) }
        guard candidates.count == 1, let entry = candidates.first else { return nil }
        return (entry, isOn)
    }
}
