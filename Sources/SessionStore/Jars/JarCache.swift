internal import Synchronization

/// Which jars there are, what they do where a site says "not signed in" and which header fields they have, in memory: a
/// jar that anyone removed, renamed or gave other settings, rules or fields is read anew.
///
/// Who asks but once needs no connection for it.
final class JarCache: Sendable {
    private struct Contents: Sendable {
        var jars: [String: JarRows.Row] = [:]
        var loginRules: [Int64: [(name: String, definition: String)]] = [:]
        /// Values sealed, as they are stored.
        var headerFields: [Int64: [HeaderFieldRows.Row]] = [:]
    }

    private struct Statements {
        let jar: RowStatement
        let loginRules: RowStatement
        let headerFields: RowStatement
    }

    private let memory = CommittedMemory<Contents, Statements>(Contents()) { connection in
        Statements(
            jar: try connection.prepare(JarRows.query), loginRules: try connection.prepare(LoginRuleRows.query),
            headerFields: try connection.prepare(HeaderFieldRows.query))
    }
    private let hasBeenAsked = Atomic(false)

    /// Closes the connection: the last one to be closed must be one that can write.
    func close() {
        memory.close()
        hasBeenAsked.store(false, ordering: .relaxed)
    }

    /// The jar of that name, as the last commit left it; `nil` where there is none.
    func jar(named name: String, in database: SessionDatabase) throws -> JarRows.Row? {
        guard database.isOnDisk, hasBeenAsked.exchange(true, ordering: .relaxed) else {
            return try database.read { try JarRows(database: $0).jar(named: name) }
        }
        return try memory.ask(database, trustsFile: true) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            if let known = contents.jars[name] { return known }
            defer { statements.jar.reset() }
            statements.jar.bind(1, text: name)
            guard try statements.jar.step() else { return nil }
            let found = JarRows.row(statements.jar)
            contents.jars[name] = found
            return found
        }
    }

    /// The definitions of a jar's login rules, by name, as the last commit left them.
    func loginRules(ofJar id: Int64, in database: SessionDatabase) throws -> [(name: String, definition: String)] {
        guard database.isOnDisk else { return try database.read { try LoginRuleRows(database: $0, jarID: id).all() } }
        return try memory.ask(database) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            if let known = contents.loginRules[id] { return known }
            let found = try LoginRuleRows.rules(ofJar: id, by: statements.loginRules)
            contents.loginRules[id] = found
            return found
        }
    }

    /// A jar's header fields by name, values sealed, as the last commit left them.
    func headerFields(ofJar id: Int64, in database: SessionDatabase) throws -> [HeaderFieldRows.Row] {
        guard database.isOnDisk else { return try database.read { try HeaderFieldRows(database: $0, jarID: id).all() } }
        return try memory.ask(database) { contents, statements, isCurrent in
            if !isCurrent { contents = Contents() }
            if let known = contents.headerFields[id] { return known }
            let found = try HeaderFieldRows.rows(ofJar: id, by: statements.headerFields)
            contents.headerFields[id] = found
            return found
        }
    }
}
