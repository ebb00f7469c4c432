/// The columns that the tables `cookie` and `snapshot_cookie` have in common, in one order: after the jar's id, their
/// numbers are those of the parameters of ``CookieRows/insertion``.
///
/// A new column comes here, into a migration, into ``CookieRowChanges``, which binds it, and into ``CookieRows``, which
/// reads it.
enum CookieColumns {
    /// What tells a jar's cookies apart: the registrable domain, and the five columns of a `Cookie.ID`.
    static let identity: MovedTable.Columns = [
        ("site", .octets), ("domain", .octets), ("path", .octets), ("name", .octets), ("host_only", .number),
        ("partition_key", .text),
    ]
    /// What else a `Cookie` has.
    static let content: MovedTable.Columns = [
        ("value", .octets), ("secure", .number), ("http_only", .number), ("same_site", .number),
        ("expires_at", .number), ("created_at", .number), ("sequence", .number), ("last_access_at", .number),
    ]
    /// Where the value came from, as in ``StoredCookie/Source``.
    static let source: MovedTable.Columns = [
        ("capture_id", .number), ("source_url", .text), ("received_at", .number),
    ]
    static let all = identity + content + source

    /// The columns of a `Cookie`.
    static let ofCookie = Array(identity.dropFirst()) + content
    /// What a cookie's row and a saved one have besides the identity, except for the capture, which may be gone.
    static let saved = content + source.filter { $0.name != "capture_id" }

    /// The names of columns with commas between them.
    static func list(_ columns: MovedTable.Columns, of table: String? = nil) -> String {
        columns.map { column in table.map { "\($0).\(column.name)" } ?? column.name }.joined(separator: ", ")
    }

    /// That columns have the values of the parameters with their numbers: an assignment with a comma as the separator, a
    /// condition with `AND`.
    static func parameters(_ columns: MovedTable.Columns, separator: String) -> String {
        all.enumerated().filter { known in columns.contains { $0.name == known.element.name } }
            .map { "\($0.element.name) = ?\($0.offset + 2)" }.joined(separator: separator)
    }
}
