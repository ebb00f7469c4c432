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

extension EngineVerdict {
    /// The reason why a text is not a verdict: a clause with the next step.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
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
