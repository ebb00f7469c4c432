import CoreMetrics
import Hummingbird
import SessionStore
import SessionWire
import Synchronization

/// Keeps the metrics, and renders them in Prometheus' text format (version 0.0.4).
///
/// Only this program chooses labels. A value from a request must be one of a few known values before it gets here,
/// because each combination stays in memory.
final class MetricsRegistry: MetricsFactory {
    /// A metric with its labels.
    struct Key: Hashable {
        let name: String
        let labels: [Label]

        init(_ name: String, _ dimensions: [(String, String)]) {
            self.name = name
            labels = dimensions.map { Label(name: $0.0, value: $0.1) }.sorted { $0.name < $1.name }
        }
    }

    struct Label: Hashable {
        let name: String
        let value: String
    }

    private struct State {
        var counters: [Key: CountedNumber] = [:]
        var gauges: [Key: MeasuredNumber] = [:]
        var histograms: [Key: Histogram] = [:]
    }

    private let state = Mutex(State())

    // MARK: - MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        state.withLock { $0.counters.value(for: Key(label, dimensions)) { CountedNumber() } }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        state.withLock { $0.gauges.value(for: Key(label, dimensions)) { MeasuredNumber() } }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        state.withLock { $0.histograms.value(for: Key(label, dimensions)) { Histogram() } }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        state.withLock { $0.histograms.value(for: Key(label, dimensions)) { Histogram() } }
    }

    /// Metrics are kept, because other handlers may use the same ones.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    // MARK: - Text

    /// Everything, in the order of names.
    var text: String {
        let state = state.withLock { $0 }
        var text = ""
        MetricsRegistry.append(state.counters, "counter", to: &text) { key, counter, text in
            text += "\(key.name)\(MetricsRegistry.text(key.labels)) \(counter.value)\n"
        }
        MetricsRegistry.append(state.gauges, "gauge", to: &text) { key, gauge, text in
            text += "\(key.name)\(MetricsRegistry.text(key.labels)) \(MetricsRegistry.text(gauge.value))\n"
        }
        MetricsRegistry.append(state.histograms, "histogram", to: &text) { key, histogram, text in
            let (counts, count, sum) = histogram.values
            for (bound, total) in zip(Histogram.bounds.map(MetricsRegistry.text) + ["+Inf"], counts) {
                let labels = key.labels + [Label(name: "le", value: bound)]
                text += "\(key.name)_bucket\(MetricsRegistry.text(labels)) \(total)\n"
            }
            text += "\(key.name)_sum\(MetricsRegistry.text(key.labels)) \(MetricsRegistry.text(sum))\n"
            text += "\(key.name)_count\(MetricsRegistry.text(key.labels)) \(count)\n"
        }
        return text
    }

    private static func append<Metric>(
        _ metrics: [Key: Metric], _ type: String, to text: inout String, _ body: (Key, Metric, inout String) -> Void
    ) {
        let sorted = metrics.sorted {
            ($0.key.name, self.text($0.key.labels)) < ($1.key.name, self.text($1.key.labels))
        }
        var last: String?
        for (key, metric) in sorted {
            if key.name != last { text += "# TYPE \(key.name) \(type)\n" }
            last = key.name
            body(key, metric, &text)
        }
    }

    private static func text(_ labels: [Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{\(labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

extension Dictionary {
    fileprivate mutating func value(for key: Key, orMake make: () -> Value) -> Value {
        if let value = self[key] { return value }
        let value = make()
        self[key] = value
        return value
    }
}

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

/// The metrics that a monitoring system reads.
struct MetricsRoute: Sendable {
    let database: SessionDatabase
    let connections: ConnectionPools
    let metrics: ServiceMetrics
    let gateways: GatewayRegistry
    let health: ServiceHealth
    /// Whether every caller may.
    let isPublic: Bool

    func add(to router: Router<ServiceRequestContext>) {
        router.add(
            ServiceRoute(.get, "/metrics", isPublic ? .everyone : .allJars(.read)) { _, _ in
                let text = try await database.reading {
                    metrics.text(
                        database: database, connections: connections.count, gateways: gateways.all, health: health)
                }
                return Response(
                    status: .ok,
                    headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
            })
    }
}
