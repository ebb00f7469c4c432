import NIOCore
import Testing

@testable import SessionService

@Suite("How often a caller may ask")
struct RateLimiterTests {
    private func moment(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(UInt64(1_000_000_000 + milliseconds * 1_000_000))
    }

    @Test("The rate limiter permits a burst, then the average, for each key separately")
    func bucket() {
        let limiter = RateLimiter(rate: 10, burst: 5)
        for _ in 0..<5 { #expect(limiter.take("a", moment(0)) == nil) }
        #expect(limiter.take("a", moment(0)) == .milliseconds(100))
        #expect(limiter.take("b", moment(0)) == nil)
        #expect(limiter.take("a", moment(99)) != nil)
        #expect(limiter.take("a", moment(100)) == nil)
        #expect(limiter.take("a", moment(100)) != nil)
        // What is refused costs nothing: a caller that insists gets its average.
        #expect((1...1000).filter { limiter.take("a", moment(100 + Int64($0))) == nil }.count == 10)
        for _ in 0..<5 { #expect(limiter.take("a", moment(10_000)) == nil) }
        #expect(limiter.take("a", moment(10_000)) != nil)
    }

    @Test("The rate limiter takes limited memory for any number of keys")
    func manyKeys() {
        let limiter = RateLimiter(rate: 1, burst: 1)
        for key in 0..<50_000 { #expect(limiter.take("\(key)", moment(0)) == nil) }
        #expect(limiter.keyCount <= 10_000)
    }
}
