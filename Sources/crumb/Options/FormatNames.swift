import ArgumentParser
import Captures

/// Reads the name of a format to write.
func exportFormat(_ name: String) throws -> ExportFormat {
    guard let format = ExportFormat(name: name) else {
        throw ValidationError("no format '\(name)' to write; use one of \(exportFormatNames)")
    }
    return format
}

/// The names of the formats to write.
let exportFormatNames = formatNames(ExportFormat.allCases.map(\.rawValue))

/// Reads the name of a format to read.
func captureFormat(_ name: String) throws -> CaptureFormat {
    guard let format = CaptureFormat(rawValue: ExportFormat.aliases[name] ?? name) else {
        throw ValidationError("no format '\(name)' to read; use one of \(captureFormatNames)")
    }
    return format
}

/// The names of the formats to read.
let captureFormatNames = formatNames(CaptureFormat.allCases.map(\.rawValue))

/// Names of formats, with the other names of each in parentheses.
private func formatNames(_ names: [String]) -> String {
    names.map { name in
        let aliases = ExportFormat.aliases.filter { $0.value == name }.keys.sorted()
        return aliases.isEmpty ? name : "\(name) (\(aliases.joined(separator: ", ")))"
    }.joined(separator: ", ")
}
