import ArgumentParser
import Captures

/// Reads the name of a format to write.
func exportFormat(_ name: String) throws -> ExportFormat {
    guard let format = ExportFormat(rawValue: name) else {
        throw ValidationError("there is no format '\(name)' to write; those there are: \(exportFormatNames)")
    }
    return format
}

/// The names of the formats to write.
let exportFormatNames = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")

/// Reads the name of a format to read.
func captureFormat(_ name: String) throws -> CaptureFormat {
    guard let format = CaptureFormat(rawValue: name) else {
        throw ValidationError("there is no format '\(name)' to read; those there are: \(captureFormatNames)")
    }
    return format
}

/// The names of the formats to read.
let captureFormatNames = CaptureFormat.allCases.map(\.rawValue).joined(separator: ", ")
