/// Pseudorandom choices from a fixed seed (SplitMix64): the same workload on every machine.
struct RandomSource: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including 1.
    mutating func fraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Whether something happens that happens in `percent` of all cases.
    mutating func chance(_ percent: Double) -> Bool {
        fraction() * 100 < percent
    }

    mutating func number(_ range: Range<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// One of the choices, each as likely as the others.
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[number(0..<choices.count)]
    }

    /// One of the choices, as likely as its weight says.
    mutating func pick<Choice>(weighted choices: [(Int, Choice)]) -> Choice {
        var left = number(0..<choices.reduce(0) { $0 + $1.0 })
        for (weight, choice) in choices {
            if left < weight { return choice }
            left -= weight
        }
        return choices[choices.count - 1].1
    }

    /// Different ones of the choices.
    mutating func sample<Choice>(_ count: Int, of choices: [Choice]) -> [Choice] {
        var rest = choices
        for index in 0..<min(count, rest.count) { rest.swapAt(index, number(index..<rest.count)) }
        return Array(rest.prefix(count))
    }

    mutating func shuffle<Element>(_ elements: inout [Element]) {
        elements = sample(elements.count, of: elements)
    }

    private static let base64URL = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    mutating func base64(_ length: Int) -> String {
        text(length, of: Self.base64URL)
    }

    mutating func hexadecimal(_ length: Int) -> String {
        text(length, of: Array("0123456789abcdef".utf8))
    }

    mutating func digits(_ length: Int) -> String {
        text(length, of: Array("123456789".utf8))
    }

    private mutating func text(_ length: Int, of alphabet: [UInt8]) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(length)
        for _ in 0..<length { octets.append(alphabet[number(0..<alphabet.count)]) }
        return String(decoding: octets, as: UTF8.self)
    }
}
