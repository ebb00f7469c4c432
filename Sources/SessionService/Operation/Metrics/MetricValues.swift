import CoreMetrics
import Synchronization

/// A number that only grows.
final class CountedNumber: CounterHandler {
    private let number = Atomic<Int64>(0)

    var value: Int64 { number.load(ordering: .relaxed) }

    func increment(by amount: Int64) { number.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { number.store(0, ordering: .relaxed) }
}

/// A number that goes up and down.
final class MeasuredNumber: MeterHandler {
    private let number = Mutex(0.0)

    var value: Double { number.withLock { $0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
}

/// How many measurements were at most so large; of times, in seconds.
final class Histogram: TimerHandler, RecorderHandler {
    /// From a tenth of a millisecond, in which a warm jar answers, to ten seconds.
    static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private struct State {
        var counts = [Int64](repeating: 0, count: Histogram.bounds.count + 1)
        var sum = 0.0
    }

    private let state = Mutex(State())

    /// How many were at most each bound, the last one being none; how many there were, and their sum.
    var values: (cumulative: [Int64], count: Int64, sum: Double) {
        let state = state.withLock { $0 }
        var total: Int64 = 0
        let cumulative = state.counts.map { count in
            total += count
            return total
        }
        return (cumulative, total, state.sum)
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let place = Histogram.bounds.firstIndex { value <= $0 } ?? Histogram.bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.sum += value
        }
    }
}
