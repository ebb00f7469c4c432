/// Two migrations that only tests apply, as a later version of the program would: one writes each row of a large table, and
/// one rebuilds a table. The program's statements work with their result.
public enum LaterSchema {
    /// The name and the statements of each.
    public static let migrations: [(name: String, sql: String)] = [
        (
            "V198",
            """
            -- A comment.
            ALTER TABLE cookie ADD COLUMN later INTEGER;
            UPDATE cookie SET later = sequence;
            CREATE INDEX cookie_later ON cookie (jar_id, later);
            """
        ),
        (
            "V199",
            """
            CREATE TABLE jar_site_later (
                site BLOB NOT NULL,
                jar_id INTEGER NOT NULL,
                PRIMARY KEY (site, jar_id)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO jar_site_later SELECT DISTINCT site, jar_id FROM cookie;
            DROP TABLE jar_site;
            ALTER TABLE jar_site_later RENAME TO jar_site;
            CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;
            """
        ),
    ]

    /// The statement after which this version of the program opens the database again.
    public static let forgetting = "DELETE FROM grdb_migrations WHERE identifier IN ('V198', 'V199')"
}
