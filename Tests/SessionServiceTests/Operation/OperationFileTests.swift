import Foundation
import Testing

@testable import SessionService

@Suite("Files for operators")
struct OperationFileTests {
    private static func text(_ path: String) throws -> String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    /// The names of metrics in a text, without the endings of a histogram's series.
    private static func metrics(in text: String) -> Set<String> {
        Set(
            text.matches(of: /\bcrumb_[a-z_]+/).map { match in
                String(match.output).replacing(/_(?:bucket|sum|count)$/, with: "")
            })
    }

    /// The metrics of the service: every literal that begins like one.
    private static func declared() throws -> Set<String> {
        let text = try text("Sources/SessionService/Operation/Metrics/ServiceMetrics.swift")
        return metrics(in: text.matches(of: /"crumb_[a-z_]+"/).map { String($0.output) }.joined(separator: " "))
    }

    @Test("docs/serving.md lists every metric, and no other")
    func documentedMetrics() throws {
        let rows = try Self.text("docs/serving.md").split(separator: "\n").filter { $0.hasPrefix("| `crumb_") }
        #expect(Self.metrics(in: rows.joined(separator: "\n")) == (try Self.declared()))
    }

    @Test("The dashboard queries only metrics of the service and of a server")
    func dashboard() throws {
        let text = try Self.text("docs/grafana/crumb-cluster.json")
        let dashboard = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let queries = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
        #expect(panels.count > 8 && queries.count >= panels.count)
        for query in queries { #expect(!Self.metrics(in: query).isEmpty, "\(query)") }
        let declared = try Self.declared()
        #expect(Self.metrics(in: text).subtracting(declared) == [])
        #expect(declared.filter { $0.hasPrefix("crumb_server_") }.subtracting(Self.metrics(in: text)) == [])
    }

    @Test(
        "The systemd units set only variables that the service reads",
        arguments: ["crumb.service", "crumb.service.d/cluster.conf"])
    func units(path: String) throws {
        let names = try Self.text("docs/systemd/\(path)").matches(of: /\b(CRUMB_[A-Z_]+)=/).map { String($0.output.1) }
        let known = Set(ServiceSetting.all.map(\.variable) + ["CRUMB_KEY_FILE"])
        #expect(!names.isEmpty && Set(names).subtracting(known) == [])
    }
}
