import Captures
import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

/// A jar, wherever it is kept: what streams, writes files, or is done while a command runs. ``OperationPlace`` does the
/// rest.
///
/// The jar `default` need not exist yet: until something is stored, it behaves as an empty one.
protocol JarBackend {
    /// The Cookie header of a request.
    ///
    /// - Parameter withFields: whether the header fields that are kept with the jar are asked for, too.
    func header(for request: RequestContext, withFields: Bool) throws -> HeaderReport

    /// The cookies of the jar and the `localStorage` of a page, from which a web view is filled.
    func contents(for page: RequestURL) throws -> PageContents

    /// Opens the jar for `crumb curl`.
    ///
    /// - Returns: a function that takes the plan, since curl's arguments are read after the jar was opened.
    func curlJar(_ console: Console) throws -> (CurlPlan) throws -> any CurlJar

    /// Stores Set-Cookie lines as those of a response.
    func receive(_ lines: [Octets], from request: RequestContext) throws -> [StorageDecisionReport]

    /// Opens the jar for `crumb import`.
    ///
    /// - Parameters:
    ///   - showsProgress: whether a person sees how far it has come.
    ///   - keyring: the keyring to ask for a browser's password if none is given.
    /// - Returns: a function that imports one file. The readable parts are stored even if the file turns out to be
    ///   broken. A file that was imported completely before changes nothing, unless it is a browser's own (`isOwn`),
    ///   which changes all the time.
    func importer(
        _ options: CaptureImport, showsProgress: Bool, keyring: DesktopKeyring?
    ) throws -> (_ file: InputFile, _ isOwn: Bool) throws -> ImportReport

    /// Writes cookies in a format.
    ///
    /// - Parameter destination: opens the destination, once the jar is known to exist.
    func export(_ order: ExportOrder, to destination: () throws -> ExportDestination) throws -> ExportReport

    /// Calls `body` with the changes after a position, and with those that come, for as long as the process runs.
    ///
    /// Waits for the jar `default` if nothing was ever stored.
    func followChanges(after position: Int64, _ body: @escaping (ChangeList) throws -> Void) throws -> Never
}

/// The data that a web view gets to open a page with a session.
struct PageContents {
    var cookies: [Cookie] = []
    var storage: [WebStorageItem] = []
    /// A line for each cookie and item that cannot be read back.
    var damage: [String] = []
    /// The rules of the jar.
    let policy: CookiePolicy
}

struct ExportOrder {
    let format: ExportFormat
    /// The request that the cookies are for; `nil` for all of them.
    let request: RequestContext?
    let selection: CookieSelection
}

extension Console {
    /// Names a jar that was created, so that a misspelled name does not go unnoticed.
    ///
    /// - Parameter similar: The names of jars that may be meant; not asked for the default jar.
    func noteCreation(ofJar name: String, similarTo similar: @autoclosure () -> [String]) {
        guard name != "default" else { return }
        note("created jar '\(name)'\(CommandFailure.question(similar().filter { !$0.isVariant(of: name) }))")
    }

    /// Says that a jar has no cookies yet, since it does not exist.
    func noteMissingJar(_ name: String, similarTo similar: @autoclosure () -> [String]) {
        if name != "default" {
            note("jar '\(name)' does not exist yet, so no cookies are sent\(CommandFailure.question(similar()))")
        }
    }
}

extension String {
    /// Whether two names differ only by digits, or by a suffix that one of them has after a separator: `work2` and
    /// `work-old` beside `work` are no slips.
    fileprivate func isVariant(of other: String) -> Bool {
        let (name, other) = (lowercased().filter { !$0.isNumber }, other.lowercased().filter { !$0.isNumber })
        let (short, long) = name.count < other.count ? (name, other) : (other, name)
        return short == long || "-_.".contains { long.hasPrefix("\(short)\($0)") }
    }
}

extension CommandFailure {
    /// Nothing was ever saved in a jar.
    static func nothingSaved(as name: String) -> CommandFailure {
        CommandFailure(.sessionNotFound, "\(name): no session was saved yet; save one with 'crumb session save'")
    }

    /// There is no jar of a name.
    ///
    /// - Parameters:
    ///   - place: the database or the service.
    ///   - others: the names of jars that may be meant.
    static func noJar(named name: String, in place: String, others: [String] = []) -> CommandFailure {
        let similar = quoted(jarNames(similarTo: name, among: others))
        let question = similar.isEmpty ? "" : " Did you mean \(similar)?"
        return CommandFailure(
            .jarNotFound, "\(name): no such jar in \(place).\(question) 'crumb jars' lists the jars.")
    }

    /// There is no jar of a name in a database.
    static func noJar(named name: String, in database: SessionDatabase, now: Timestamp) -> CommandFailure {
        noJar(named: name, in: database.path, others: otherJars(in: database, now: now))
    }

    /// The jars of a database that may be meant by a name.
    static func jarNames(similarTo name: String, in database: SessionDatabase, now: Timestamp) -> [String] {
        jarNames(similarTo: name, among: otherJars(in: database, now: now))
    }

    static func jarNames(similarTo name: String, among others: [String]) -> [String] {
        let word = name.lowercased()
        let limit = word.count < 4 ? 1 : 2
        return others.filter { $0 != name && word.editDistance(to: $0.lowercased()) <= limit }
    }

    /// The question that names jars which may be meant; empty without such jars.
    fileprivate static func question(_ names: [String]) -> String {
        names.isEmpty ? "" : "; did you mean \(quoted(names))?"
    }

    private static func quoted(_ names: [String]) -> String {
        names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
    }

    private static func otherJars(in database: SessionDatabase, now: Timestamp) -> [String] {
        // Without the names the message is still right.
        Array(((try? database.jars(now: now).map(\.name)) ?? []).prefix(5000))
    }

    /// The default database does not exist, so it has no such jar.
    static func noDatabase(at path: String) -> CommandFailure {
        CommandFailure(.jarNotFound, "\(path): no such database. 'crumb import' creates one.")
    }

    /// The database that the user named does not exist.
    ///
    /// - Parameters:
    ///   - source: The option or variable that names it.
    ///   - isEmpty: Whether an empty file is there.
    static func noDatabase(at path: String, namedBy source: String, isEmpty: Bool) -> CommandFailure {
        CommandFailure(
            .inputNotFound,
            "\(path): \(isEmpty ? "the file is empty, so it is no database" : "no such database"). Correct \(source), or "
                + "create it with 'crumb import'.")
    }
}
