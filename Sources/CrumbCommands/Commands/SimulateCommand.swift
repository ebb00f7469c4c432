import ArgumentParser
import CookieModel
import CookieScenarios
import SessionOperations

struct SimulateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run scenarios on throw-away jars and print the decisions.",
        discussion: """
            A scenario is a JSON object on one line; docs/simulate.md describes it. An invalid line gets an \
            error in place of a result. The others still run, and the exit status is 1.
            """)

    @OptionGroup var suffixListOptions: SuffixListOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The scenario files. Default: standard input, also '-'.")
    var files: [String] = []

    func execute(_ console: Console) throws {
        let now = console.now
        let publicSuffixes = try suffixListOptions.list()
        var isFaultless = true
        for file in files.isEmpty ? ["-"] : files {
            var answers: [UInt8] = []
            func answer(_ line: [UInt8]) throws {
                guard line.contains(where: { !InputFile.isWhiteSpace($0) }) else { return }
                let (answer, isScenario) = ScenarioLine.run(
                    line, realTime: now, publicSuffixes: publicSuffixes, checkedBy: { try StrictJSON.check($0) })
                isFaultless = isFaultless && isScenario
                answers += answer
                answers.append(UInt8(ascii: "\n"))
                if answers.count >= 1 << 16 {
                    try console.write(answers)
                    answers.removeAll(keepingCapacity: true)
                }
            }
            var rest: [UInt8] = []
            try InputFile(file).forEachChunk { chunk in
                var start = chunk.startIndex
                while let newline = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
                    try answer(rest + chunk[start..<newline])
                    rest = []
                    start = newline + 1
                }
                rest += chunk[start...]
            }
            try answer(rest)
            try console.write(answers)
        }
        if !isFaultless { throw FailureKind.scenarioInvalid.exitCode }
    }
}
