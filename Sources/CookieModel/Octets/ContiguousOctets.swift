/// Octets that lie next to each other, whoever owns them.
protocol ContiguousOctets: RandomAccessCollection<UInt8> where Index == Int {
    /// Runs `body` on the octets in place.
    func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension Octets: ContiguousOctets {
    @inline(__always)
    func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withSpan { span in span.withUnsafeBytes { body($0) } }
    }
}

extension UnsafeRawBufferPointer: ContiguousOctets {
    @inline(__always)
    func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(self)
    }
}
