import Foundation

/// The figures as a table for people and as JSON for programs.
struct Report {
    let figures: Figures
    let settings: Settings

    /// A Markdown table, the notes, and the machine.
    var table: String {
        let peers = settings.peers.filter { peer in figures.all.contains { $0.best[peer] != nil } }
        var rows = [["figure"] + peers.map(\.rawValue) + ["ratio", "of medians", "goal", "met"]]
        for figure in figures.all {
            var row = [figure.name]
            for peer in peers {
                let mark = figure.unlike.contains(peer) ? " *" : ""
                row.append(figure.best[peer].map { figure.unit.text($0) + mark } ?? "")
            }
            for values in [figure.best, figure.median] {
                row.append(
                    figure.ratio(values).map { "\(Figure.Unit.decimals($0, 2))×" } ?? figure.ratiosToNamedText(values))
            }
            rows.append(row + [figure.goalText, figure.isMet.map { $0 ? "yes" : "no" } ?? ""])
        }
        for scaling in figures.scalings {
            let row = [scaling.name, "\(Figure.Unit.decimals(scaling.kept, 2))×"]
            rows.append(
                row + Array(repeating: "", count: peers.count + 1)
                    + ["≥ \(Figure.Unit.decimals(scaling.wanted, 1))×", scaling.kept >= scaling.wanted ? "yes" : "no"])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
        lines.append("")
        lines.append("Best of interleaved repetitions; CPU time where no other clock is named. \(machine)")
        if !figures.all.allSatisfy(\.unlike.isEmpty) { lines.append("* Other work than Crumb's: no ratio is taken.") }
        return (lines + [""] + figures.notes.map { "- \($0)" }).joined(separator: "\n")
    }

    /// The same, every repetition summed up in its two ways.
    var json: String {
        let list = figures.all.map { figure in
            var object: [String: Any] = [
                "figure": figure.name, "unit": figure.unit.rawValue, "best": named(figure.best),
                "median": named(figure.median), "unlike": figure.unlike.map(\.rawValue).sorted(),
                "goal": figure.goalText,
            ]
            object["ratio"] = figure.ratio(figure.best)
            object["ratioOfMedians"] = figure.ratio(figure.median)
            object["ratios"] = named(
                Dictionary(uniqueKeysWithValues: figure.ratiosToNamed(figure.best).map { ($0.peer, $0.ratio) }))
            object["met"] = figure.isMet
            return object
        }
        var report: [String: Any] = ["machine": machine, "figures": list, "notes": figures.notes]
        report["speedKept"] = Dictionary(uniqueKeysWithValues: figures.scalings.map { ($0.name, $0.kept) })
        let data = try? JSONSerialization.data(withJSONObject: report, options: [.prettyPrinted, .sortedKeys])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private func named(_ values: [Peer: Double]) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }

    /// What the figures were taken on.
    private var machine: String {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        return "\(name ?? "Unknown processor"), \(ProcessInfo.processInfo.processorCount) cores."
    }
}
