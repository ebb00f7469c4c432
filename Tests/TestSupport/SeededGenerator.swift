/// Random numbers that are the same in every run (SplitMix64), so that a failure can be repeated.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// The numbers that go with `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` - 1; fast rather than perfectly even.
    public mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() >> 33) &* UInt64(bound)) >> 31)
    }

    /// True once in `times`.
    public mutating func once(in times: Int) -> Bool {
        below(times) == 0
    }

    /// One of `choices`, which must not be empty.
    public mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }
}
