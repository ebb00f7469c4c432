import CoreMetrics
import Synchronization

/// Keeps what is counted, and shows it in Prometheus' text format (version 0.0.4).
///
/// Labels are given by this program alone. Whatever comes from a request must be one of a few known values before it
/// gets here: each combination stays in memory.
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

    /// What was counted stays: others may count the same.
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
