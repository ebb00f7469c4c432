import ArgumentParser
import Foundation

/// How a command talks; the same for all of them.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, one object per line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only data and errors.")
    var quiet = false

    @Flag(name: .long, help: "Print without colour. NO_COLOR does the same.")
    var noColor = false

    /// Whether output may be coloured.
    var usesColor: Bool { !noColor && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty }
}
