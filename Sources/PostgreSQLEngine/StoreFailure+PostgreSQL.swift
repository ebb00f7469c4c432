internal import StoreEngine

extension StoreFailure {
    /// Creates the failure that an SQLSTATE reports (PostgreSQL, appendix A).
    ///
    /// - Parameter message: the server's message. It is used only for a missing right, where it names a table, for
    ///   example; other messages may contain values.
    init(state: String, message: String? = nil) {
        // A division by zero: see ``PostgreSQLStatement/runChangingOneRow()`` and
        // ``PostgreSQLDatabase/writeOptimistically(_:assuming:_:)``.
        if state == "22012" {
            self = .unexpectedResult
            return
        }
        let kind: Kind =
            switch state {
            case "23503": .orphan
            // U+0000, unescaped or escaped in JSON.
            case "22021", "22P05": .unstorableText
            // A limit of PostgreSQL. The only one that statements of the store can reach is the size of an index row.
            case "54000": .oversizedKey
            // A serialization failure, a deadlock, or a row that another transaction has stored meanwhile. If the
            // transaction is retried, it finds that row.
            case "40001", "40P01", "23505": .undone
            case "55P03", "57014": .busy
            case "53100": .full
            case "25006": .unavailable
            case "28000", "28P01", "42501", "3D000": .refused
            case "3F000", "42P01": .schemaMissing
            case "40003": .unknownCommit
            // Connections, resources, and interventions of an operator.
            default: ["08", "53", "57"].contains { state.hasPrefix($0) } ? .unavailable : .other
            }
        self.init(kind, code: state == "42501" ? message ?? state : state)
    }

    /// The server cannot be reached, or does not answer in time.
    static func unreachable(_ detail: String) -> StoreFailure {
        StoreFailure(.unavailable, code: detail)
    }

    /// Creates the failure that libpq reports after an attempt to connect.
    ///
    /// The SQLSTATE decides, because servers write the text in their own language, and one state has several texts.
    ///
    /// - Parameter message: what libpq reports with all details, about each server that it has tried.
    init(connecting message: String) {
        let lines = message.split(whereSeparator: \.isNewline)
        let kinds = lines.lazy.compactMap(StoreFailure.state).map { StoreFailure(state: $0).kind }
        let kind: Kind =
            if kinds.contains(.unavailable) {
                .unavailable
            } else if let kind = kinds.last {
                kind == .other ? .refused : kind
            } else {
                message.contains("no password supplied") ? .refused : .unavailable
            }
        self.init(kind, code: lines.first.map(String.init) ?? "no connection")
    }

    /// The SQLSTATE in a line such as `connection to server at "db1", port 5432 failed: FATAL:  28000: …`.
    private static func state(in line: Substring) -> String? {
        line.split(separator: ":").lazy.map { $0.drop { $0 == " " } }.first { part in
            part.utf8.count == 5 && part.contains(where: \.isNumber)
                && part.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
        }.map(String.init)
    }
}
