import ArgumentParser

/// How a command talks; the same for all of them.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, one object a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print data and errors only.")
    var quiet = false

    @Flag(name: .long, help: "Print without colour, as NO_COLOR does; nothing is coloured yet.")
    var noColor = false
}
