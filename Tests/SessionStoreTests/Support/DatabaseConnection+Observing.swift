import CSQLite
import SQLite

extension DatabaseConnection {
    /// Calls `body` with the text of each statement that begins; `nil` ends that.
    func trace(_ body: ((String) -> Void)?) {
        guard let body else {
            sqlite3_trace_v2(pointer, 0, nil, nil)
            return
        }
        // Never released: SQLite keeps the address, and does not tell for how long.
        let trace = Unmanaged.passRetained(Trace(body: body)).toOpaque()
        sqlite3_trace_v2(
            pointer, UInt32(SQLITE_TRACE_STMT),
            { _, trace, _, text in
                guard let trace, let text else { return 0 }
                let sql = String(cString: text.assumingMemoryBound(to: CChar.self))
                Unmanaged<Trace>.fromOpaque(trace).takeUnretainedValue().body(sql)
                return 0
            }, trace)
    }

    /// How SQLite runs a statement: a line for each step.
    func plan(_ sql: String, _ bind: (PreparedStatement) -> Void) throws -> [String] {
        try withStatement("EXPLAIN QUERY PLAN \(sql)") { statement in
            bind(statement)
            var lines: [String] = []
            while try statement.step() { lines.append(statement.text(3)) }
            return lines
        }
    }
}

private final class Trace {
    let body: (String) -> Void

    init(body: @escaping (String) -> Void) {
        self.body = body
    }
}
