import ArgumentParser
import Foundation

/// How a command talks; the same for all of them.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, one object a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print data and errors only.")
    var quiet = false

    @Flag(name: .long, help: "Print without colour, as NO_COLOR does; only QR codes have any.")
    var noColor = false

    /// Whether output may be coloured.
    var usesColor: Bool { !noColor && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty }
}
