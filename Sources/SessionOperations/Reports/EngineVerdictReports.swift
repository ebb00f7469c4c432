package import CookieModel
package import SessionWire

extension EngineVerdict.Classes {
    /// The classes by their names.
    fileprivate static let names: [(classes: EngineVerdict.Classes, name: String)] = [
        (.strict, "strict"), (.lax, "lax"), (.none, "none"), (.default, "default"), (.recentDefault, "recent"),
    ]

    /// The names of the classes.
    fileprivate var names: [String] { Self.names.filter { contains($0.classes) }.map(\.name) }
}

extension EngineVerdictReport {
    /// The report of a verdict.
    package init(_ verdict: EngineVerdict) {
        self.init(
            source: verdict.source.rawValue, classes: verdict.classes.names, partition: verdict.partition?.serialized)
    }
}

extension EngineVerdictDocument {
    /// The document of a verdict.
    package init(_ verdict: EngineVerdict) {
        let report = EngineVerdictReport(verdict)
        self.init(source: report.source, classes: report.classes, partition: report.partition)
    }
}

extension Substring {
    /// The text without spaces around it.
    fileprivate var trimmingSpaces: String { split(separator: " ").joined(separator: " ") }
}

extension EngineVerdict {
    /// The reason why a text is not a verdict: a clause with the next step.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The classes of a gateway's log, as its lines for a person have them.
    private static let phrases: [String: Classes] = [
        "same-site": .all, "cross-site navigation": [.none, .lax, .default], "cross-site": [.none], "no cookies": [],
        "partitioned cookies only": [],
    ]

    /// Reads a verdict from a gateway's log: `witness: same-site` in its lines, `witness:lax,none` by its members.
    package init(text: String) throws(Fault) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count > 1 ? parts[1].split(separator: " ").joined(separator: " ") : ""
        // The name that the log had for the fields that stand in for Sec-Fetch.
        let source = parts[0].trimmingSpaces == "origin" ? Source.fetchMetadata.rawValue : parts[0].trimmingSpaces
        guard let classes = EngineVerdict.phrases[rest] else {
            try self.init(source: source, classes: rest.split(separator: ",").map { $0.trimmingSpaces })
            return
        }
        try self.init(source: source, classes: classes.names)
    }

    /// Creates the verdict from its names.
    package init(source: String, classes names: [String], partition: String? = nil) throws(Fault) {
        guard let source = Source(rawValue: source) else {
            throw Fault(description: "source: use one of \(Source.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var classes: Classes = []
        for name in names {
            guard let known = Classes.names.first(where: { $0.name == name }) else {
                throw Fault(
                    description: "classes: use one of \(Classes.names.map(\.name).joined(separator: ", "))")
            }
            classes.formUnion(known.classes)
        }
        let key = partition.flatMap { PartitionKey(serialized: $0) }
        guard partition == nil || key != nil else {
            throw Fault(description: "partition: use the one of a gateway's report")
        }
        self.init(classes, partition: key, source: source)
    }
}
