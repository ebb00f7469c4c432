import CookieModel
import HTTPTypes
import Metrics
import NIOCore
import SessionStore
import Testing

@testable import SessionService

@Suite("Metrics as text")
struct MetricsRegistryTests {
    @Test("The text of metrics has counters, gauges and histograms, by name and labels")
    func text() {
        let registry = MetricsRegistry()
        Counter(label: "a_total", dimensions: [("x", "2")], factory: registry).increment(by: 3)
        Counter(label: "a_total", dimensions: [("x", "1\"\\\n")], factory: registry).increment()
        Counter(label: "a_total", dimensions: [("x", "2")], factory: registry).increment()
        Meter(label: "g", factory: registry).set(2.5)
        let timer = Timer(label: "t_seconds", factory: registry)
        timer.recordMilliseconds(1)
        timer.recordSeconds(20)
        let lines = registry.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(3) == ["# TYPE a_total counter", #"a_total{x="1\"\\\n"} 1"#, #"a_total{x="2"} 4"#])
        #expect(lines.contains("g 2.5"))
        #expect(lines.contains(#"t_seconds_bucket{le="0.0005"} 0"#))
        #expect(lines.contains(#"t_seconds_bucket{le="0.001"} 1"#))
        #expect(lines.contains(#"t_seconds_bucket{le="10"} 1"#) && lines.contains(#"t_seconds_bucket{le="+Inf"} 2"#))
        #expect(lines.contains("t_seconds_count 2") && lines.contains("t_seconds_sum 20.001"))
    }

    @Test("Data of requests never becomes a label of metrics")
    func labels() throws {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(
            path: "", keys: .key(key), durability: .memory, now: Timestamp(seconds: 1_800_000_000))
        let metrics = ServiceMetrics(tokens: database.tokens)
        for number in 0..<100 {
            metrics.record(
                route: nil, method: .init("M\(number)") ?? .get, status: .notFound, took: .milliseconds(1))
        }
        let series = metrics.registry.text.split(separator: "\n").filter { $0.hasPrefix("crumb_http_requests_total") }
        #expect(series == [#"crumb_http_requests_total{method="other",route="none",status="404"} 100"#])
    }
}
