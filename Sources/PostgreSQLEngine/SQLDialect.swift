/// A statement of the store in the dialect of PostgreSQL.
///
/// The store writes SQL that both engines accept. Only the notation differs: parameters are `?` and `?3` in SQLite, and
/// `$1` here; octets are `x'01'` there, and `'\x01'` here. The schema defines the functions that SQLite has and
/// PostgreSQL lacks (`Migrations/postgresql`).
struct SQLDialect: Equatable {
    /// The statement.
    let text: String
    /// The number that the store gives to each parameter: `$1` is the first of them.
    let parameters: [Int]

    init(_ statement: String) {
        var reader = Reader(Array(statement.utf8))
        reader.translate()
        text = String(decoding: reader.output, as: UTF8.self)
        parameters = reader.parameters
    }

    private struct Reader {
        let input: [UInt8]
        var place = 0
        var output: [UInt8] = []
        var parameters: [Int] = []

        init(_ input: [UInt8]) {
            self.input = input
            output.reserveCapacity(input.count + 16)
        }

        mutating func translate() {
            while place < input.count {
                switch input[place] {
                case UInt8(ascii: "'"), UInt8(ascii: "\""): copyQuoted()
                case UInt8(ascii: "?"): translateParameter()
                case UInt8(ascii: "x") where isLiteralOfOctets: translateOctets()
                default: copy()
                }
            }
        }

        private mutating func copy() {
            output.append(input[place])
            place += 1
        }

        private mutating func copyQuoted() {
            let quote = input[place]
            repeat { copy() } while place < input.count && input[place] != quote
            if place < input.count { copy() }
        }

        private mutating func translateParameter() {
            place += 1
            var digits = 0
            var number = 0
            while place < input.count, digits < 4, (0x30...0x39).contains(input[place]) {
                number = number * 10 + Int(input[place] - 0x30)
                (place, digits) = (place + 1, digits + 1)
            }
            if digits == 0 { number = (parameters.max() ?? 0) + 1 }
            let index = parameters.firstIndex(of: number) ?? parameters.count
            if index == parameters.count { parameters.append(number) }
            output += Array("$\(index + 1)".utf8)
        }

        private var isLiteralOfOctets: Bool {
            let isWord = place > 0 && (input[place - 1] == 0x5F || isAlphanumeric(input[place - 1]))
            return !isWord && place + 1 < input.count && input[place + 1] == UInt8(ascii: "'")
        }

        private func isAlphanumeric(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & ~0x20)
        }

        private mutating func translateOctets() {
            place += 2
            output += Array("'\\x".utf8)
            while place < input.count, input[place] != UInt8(ascii: "'") { copy() }
            if place < input.count { copy() }
            output += Array("::bytea".utf8)
        }
    }
}
