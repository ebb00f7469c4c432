import ArgumentParser
import Captures

/// Reads the name of a format to write.
func exportFormat(_ name: String) throws -> ExportFormat {
    guard let format = ExportFormat(name: name) else {
        throw ValidationError(
            "No format '\(name)' to write.\(question(name, ExportFormat.allCases.map(\.rawValue))) Formats: "
                + "\(exportFormatNames).")
    }
    return format
}

/// The names of the formats to write.
let exportFormatNames = formatNames(ExportFormat.allCases.map(\.rawValue))

/// Reads the name of a format to read.
func captureFormat(_ name: String) throws -> CaptureFormat {
    guard let format = CaptureFormat(rawValue: ExportFormat.aliases[name] ?? name) else {
        throw ValidationError(
            "No format '\(name)' to read.\(question(name, CaptureFormat.allCases.map(\.rawValue))) Formats: "
                + "\(captureFormatNames).")
    }
    return format
}

/// The names of the formats to read.
let captureFormatNames = formatNames(CaptureFormat.allCases.map(\.rawValue))

/// Asks whether a format with a similar name is meant; empty if no name is near.
private func question(_ name: String, _ formats: [String]) -> String {
    let word = name.lowercased()
    let nearest = (formats + ExportFormat.aliases.filter { formats.contains($0.value) }.keys.sorted())
        .map { (name: $0, distance: word.editDistance(to: $0)) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(1, word.utf8.count / 3) else { return "" }
    return " Did you mean '\(nearest.name)'?"
}

/// Names of formats, with the other names of each in parentheses.
private func formatNames(_ names: [String]) -> String {
    names.map { name in
        let aliases = ExportFormat.aliases.filter { $0.value == name }.keys.sorted()
        return aliases.isEmpty ? name : "\(name) (\(aliases.joined(separator: ", ")))"
    }.joined(separator: ", ")
}
