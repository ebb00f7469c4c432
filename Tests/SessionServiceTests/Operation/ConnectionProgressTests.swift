import NIOCore
import Testing

@testable import SessionService

@Suite("How long a connection may take")
struct ConnectionProgressTests {
    private enum Event {
        case read, bytes, head, end, answer, unwritable, writable
        case body(Int)
    }

    private func delay(_ events: [(at: Int64, Event)], now: Int64) -> ConnectionProgress.Delay? {
        var limits = ServiceLimits()
        limits.headerSeconds = 10
        limits.idleSeconds = 75
        limits.bodyBytesPerSecond = 100
        var progress = ConnectionProgress(now: .uptimeNanoseconds(0))
        for (second, event) in events {
            let moment = NIODeadline.uptimeNanoseconds(UInt64(second) * 1_000_000_000)
            switch event {
            case .read: progress.beginReading(moment)
            case .bytes: progress.receiveBytes(moment)
            case .head: progress.receiveHead(moment)
            case .body(let count): progress.receiveBody(count)
            case .end: progress.receiveEnd(moment)
            case .answer: progress.finishAnswer(moment)
            case .unwritable: progress.becomeWritable(false, moment)
            case .writable: progress.becomeWritable(true, moment)
            }
        }
        return progress.delay(
            ConnectionProgress.Patience(limits), .uptimeNanoseconds(UInt64(now) * 1_000_000_000))
    }

    @Test("A connection that sends nothing is late after its limit")
    func silence() {
        #expect(delay([(0, .read)], now: 74) == nil)
        #expect(delay([(0, .read)], now: 75) == .request)
        // A request that is answered begins the wait anew.
        let request: [(Int64, Event)] = [(0, .read), (50, .bytes), (50, .head), (50, .end), (60, .answer)]
        #expect(delay(request, now: 134) == nil)
        #expect(delay(request, now: 135) == .request)
    }

    @Test("A slow head is late however often a byte arrives")
    func drippingHead() {
        let drips = (20..<40).flatMap { [($0, Event.read), ($0, .bytes)] }.map { (Int64($0.0), $0.1) }
        #expect(delay(drips, now: 29) == nil)
        #expect(delay(drips, now: 30) == .head)
    }

    @Test("A response may take any time, and the next head waits for it")
    func slowAnswer() {
        let asked: [(Int64, Event)] = [(0, .read), (1, .bytes), (1, .head), (1, .end)]
        #expect(delay(asked, now: 10_000) == nil)
        #expect(delay(asked + [(2, .bytes)], now: 10_000) == nil)
        #expect(delay(asked + [(2, .bytes), (500, .answer)], now: 509) == nil)
        #expect(delay(asked + [(2, .bytes), (500, .answer)], now: 510) == .head)
    }

    @Test("A body must arrive at its minimum rate, counted while the service waits for it")
    func slowBody() {
        let head: [(Int64, Event)] = [(0, .bytes), (0, .head), (0, .read)]
        #expect(delay(head, now: 5) == nil)
        #expect(delay(head, now: 6) == .body)
        #expect(delay(head + [(5, .bytes), (5, .body(1000)), (5, .read)], now: 13) == nil)
        #expect(delay(head + [(5, .bytes), (5, .body(1000)), (5, .read)], now: 15) == .body)
        // This side is busy, and reads nothing: the other side is not late.
        #expect(delay(head + [(1, .bytes), (1, .body(10))], now: 10_000) == nil)
    }

    @Test("A response that the client does not read is late after its limit")
    func unreadAnswer() {
        let asked: [(Int64, Event)] = [(0, .bytes), (0, .head), (0, .end), (10, .unwritable)]
        #expect(delay(asked, now: 84) == nil)
        #expect(delay(asked, now: 85) == .reader)
        #expect(delay(asked + [(50, .writable)], now: 10_000) == nil)
    }
}
