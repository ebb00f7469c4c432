internal import StoreEngine

extension StoreFailure {
    /// Creates the failure that an SQLSTATE reports (PostgreSQL, appendix A).
    init(state: String) {
        // A division by zero: see ``PostgreSQLStatement/runChangingOneRow()``.
        if state == "22012" {
            self = .unexpectedResult
            return
        }
        let kind: Kind =
            switch state {
            case "23503": .orphan
            // U+0000 as it is, and as an escape in JSON.
            case "22021", "22P05": .unstorableText
            // A serialization failure and a deadlock.
            case "40001", "40P01": .undone
            case "55P03", "57014": .busy
            case "53100": .full
            case "25006": .unavailable
            case "28000", "28P01", "42501", "3D000": .refused
            case "3F000", "42P01": .schemaMissing
            case "40003": .unknownCommit
            // Connections, resources, and what an operator does.
            default: ["08", "53", "57"].contains { state.hasPrefix($0) } ? .unavailable : .other
            }
        self.init(kind, code: state)
    }

    /// The server cannot be reached, or does not answer in time.
    static func unreachable(_ detail: String) -> StoreFailure {
        StoreFailure(.unavailable, code: detail)
    }
}
