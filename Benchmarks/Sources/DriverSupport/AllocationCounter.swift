import Glibc

/// Counts calls of `malloc` and its relatives, by way of `Peers/allocations.c` loaded before the C library.
public struct AllocationCounter {
    private let count: @convention(c) () -> UInt

    /// The counter, where it is loaded.
    public init() throws {
        guard let symbol = dlsym(nil, "crumb_bench_allocation_count") else {
            throw DriverError.usage("allocations are counted only with the library of Peers/allocations.c preloaded")
        }
        count = unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)
    }

    /// The number of allocations that `body` makes.
    public func allocations(of body: () throws -> Void) rethrows -> Int {
        let before = count()
        try body()
        return Int(count() - before)
    }
}
