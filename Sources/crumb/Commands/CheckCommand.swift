import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct CheckCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the database: file structure, rows without owners, sealed values, permissions.",
        discussion: """
            Changes nothing. Exit status 0 if the database is sound, 29 if not. If it cannot be opened, the status is the \
            same as with any other command.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        guard let opened = try database.openExisting(now: .now) else {
            if output.json { try console.writeJSON(CheckReport(database: try database.path(), DatabaseCheck())) }
            console.note("\(try database.path()): there is no database yet")
            return
        }
        let check = try opened.check()
        if output.json {
            try console.writeJSON(CheckReport(database: opened.path, check))
        } else {
            for finding in check.findings {
                try console.writeLine("\(finding.isProblem ? "wrong" : "note ")  \(finding.description)")
            }
            let problems = check.findings.count(where: \.isProblem)
            let verdict =
                problems == 0 ? "sound" : problems == 1 ? "one thing is wrong" : "\(problems) things are wrong"
            let values = "\(check.readableValues) sealed \(check.readableValues == 1 ? "value" : "values") can be read"
            try console.writeLine("\(opened.path): \(verdict); \(values)")
        }
        if !check.isSound { throw FailureKind.checkFailed.exitCode }
    }
}

private struct CheckReport: Encodable {
    struct Finding: Encodable {
        let code: String
        let problem: Bool
        let message: String
        let value: SealedValueReport?
    }

    let database: String
    let sound: Bool
    let readableValues: Int
    let findings: [Finding]

    init(database: String, _ check: DatabaseCheck) {
        self.database = database
        sound = check.isSound
        readableValues = check.readableValues
        findings = check.findings.map { finding in
            Finding(
                code: finding.code.rawValue, problem: finding.isProblem, message: finding.description,
                value: finding.location.map(SealedValueReport.init))
        }
    }
}
