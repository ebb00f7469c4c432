import Testing

@testable import PostgreSQLEngine

@Suite("Statements in the words of PostgreSQL")
struct SQLDialectTests {
    @Test(
        "A statement for PostgreSQL has translated parameters, octets and quoted text",
        arguments: [
            ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = $1 AND c = $2", [1, 2]),
            ("SELECT ?2, ?1, ?2", "SELECT $1, $2, $1", [2, 1]),
            // A parameter that the statement does not use has no number of the server's.
            ("SELECT a FROM t LIMIT ?8", "SELECT a FROM t LIMIT $1", [8]),
            ("SELECT '?', \"?\", x", "SELECT '?', \"?\", x", []),
            ("SELECT 'it''s ?' || ?", "SELECT 'it''s ?' || $1", [1]),
            ("SELECT substr(v, 1, 5) = x'0100FF'", "SELECT substr(v, 1, 5) = '\\x0100FF'::bytea", []),
            ("VALUES (x'')", "VALUES ('\\x'::bytea)", []),
            // The end of a word is no literal.
            ("SELECT max'a'", "SELECT max'a'", []),
            ("?", "$1", [1]), ("'", "'", []), ("x'", "'\\x::bytea", []),
        ])
    func translation(statement: String, text: String, parameters: [Int]) {
        let dialect = SQLDialect(statement)
        #expect(dialect.text == text)
        #expect(dialect.parameters == parameters)
    }
}

@Suite("The schema's files")
struct PostgreSQLSchemaTests {
    @Test("A schema file is split into statements, and functions stay whole")
    func statements() {
        let statements = PostgreSQLSchema.statements(
            """
            -- A comment;
            CREATE TABLE a (
                b text
            );
            CREATE FUNCTION f() AS $$
                BEGIN
                    PERFORM 1;
                END
            $$;
            """)
        #expect(statements.count == 2)
        #expect(statements.first == "CREATE TABLE a (\n    b text\n);")
        #expect(statements.last?.hasSuffix("END\n$$;") == true)
    }

    @Test("The last statement of each schema file is complete, and is sent to the server")
    func files() {
        for migration in PostgreSQLSchema.all {
            let text = String(decoding: migration.sql, as: UTF8.self)
            #expect(text.contains("VALUES ('\(migration.name)', "), "\(migration.name) does not note itself")
            let last = text.split(separator: "\n").last
            #expect(PostgreSQLSchema.statements(text).last?.split(separator: "\n").last == last)
        }
    }
}
