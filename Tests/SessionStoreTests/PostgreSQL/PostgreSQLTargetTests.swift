import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite("The URL of a database server")
struct PostgreSQLTargetTests {
    @Test(
        "Is called by its hosts, their ports and its name, without user and settings",
        arguments: [
            ("postgresql://db1,db2:5433/crumb?sslrootcert=ca.pem", "postgresql://db1,db2:5433/crumb"),
            ("postgresql://db1:1,db2:2/crumb", "postgresql://db1:1,db2:2/crumb"),
            ("postgresql://db1,db2/crumb?port=5433", "postgresql://db1:5433,db2:5433/crumb"),
            ("postgresql://[::1]:5433/crumb", "postgresql://[::1]:5433/crumb"),
            ("postgresql://db1/crumb", "postgresql://db1/crumb"),
            ("postgres://someone@127.0.0.1:5432/crumb?sslmode=disable", "postgresql://127.0.0.1:5432/crumb"),
            ("postgresql:///crumb?host=/run/postgresql", "postgresql:///run/postgresql/crumb"),
            ("postgresql:///?service=crumb", "postgresql://service crumb/"),
        ])
    func names(url: String, name: String) throws {
        #expect(try PostgreSQLTarget(url).name == name)
    }

    @Test(
        "Is rejected where it has a password, verifies no server or names none",
        arguments: [
            ("postgresql://someone:geheim@db1/crumb", "password file"),
            ("postgresql://db1/crumb?password=geheim", "password file"),
            ("postgresql://db1/crumb?sslmode=require", "does not verify"),
            ("postgresql://127.0.0.1,db1/crumb?sslmode=disable", "does not verify"),
            ("postgresql:///crumb", "name a host"),
            ("postgresql://db1/crumb?geheim=x", "cannot be read"),
            ("mysql://db1/crumb", "postgresql://"),
        ])
    func rejected(url: String, part: String) {
        #expect {
            try PostgreSQLTarget(url)
        } throws: { error in
            let text = "\(error)"
            return text.contains(part) && !text.contains("geheim") && error is SessionStoreError
        }
    }
}
