import CookieModel

@testable import SessionStore

extension CookieJar {
    /// Every cookie with its value, in the order of creation.
    func contents() throws -> [Cookie] {
        try cookies().readable.sorted { ($0.creation, $0.sequence) < ($1.creation, $1.sequence) }
    }

    /// The same without what has expired and waits for the clock to be confirmed.
    func contents(at now: Timestamp) throws -> [Cookie] {
        try contents().filter { !$0.isExpired(at: now) }
    }

    /// Name and value of every cookie, in the order of creation.
    func pairs() throws -> [String] {
        try contents().map(\.pair.description)
    }
}

extension SessionDatabase {
    /// A jar that must be there.
    func present(_ name: String) throws -> CookieJar {
        guard let jar = try existingJar(named: name) else { throw SessionStoreError(noJarNamed: name) }
        return jar
    }

    /// Every jar with what is in it.
    func everything() throws -> [String: [Cookie]] {
        var everything: [String: [Cookie]] = [:]
        for summary in try jars(now: Given.now) { everything[summary.name] = try present(summary.name).contents() }
        return everything
    }

    /// Makes the next statement of a kind on the cookies of that name fail, as a full disk would.
    func failing(_ statement: String, of name: String, _ body: () throws -> Void) throws {
        let row = statement == "DELETE" ? "OLD" : "NEW"
        let condition = "\(row).name = \(Given.octets(name))"
        let beginning = "CREATE TRIGGER failing BEFORE \(statement) ON cookie"
        if engine.file == nil {
            try execute(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'failing'; END $$
                """)
            try execute("\(beginning) FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION fail()")
        } else {
            try execute("\(beginning) WHEN \(condition) BEGIN SELECT RAISE(ABORT, 'failing'); END")
        }
        defer { try? execute(engine.file == nil ? "DROP FUNCTION fail CASCADE" : "DROP TRIGGER failing") }
        try body()
    }
}
