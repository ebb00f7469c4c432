/// Nonces for the values of one transaction: a random one, and those that follow it.
///
/// No nonce may serve twice under one key, in whatever process. Of `n` values that are sealed in runs of consecutive
/// nonces, each from a random start of 96 bits, two share one with a probability below n²/2^96: at least as good as if
/// every nonce was random, without asking the system for each.
struct NonceSequence {
    private var high: UInt64
    private var low: UInt32

    /// A sequence from a random start.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(high: generator.next(), low: generator.next())
    }

    /// A sequence from a given start, for tests.
    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// The next nonce, as a number of 96 bits.
    mutating func next() -> (high: UInt64, low: UInt32) {
        let nonce = (high, low)
        low &+= 1
        if low == 0 { high &+= 1 }
        return nonce
    }
}
