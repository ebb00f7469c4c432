import StoreEngine
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite("The URL of a database server")
struct PostgreSQLTargetTests {
    @Test(
        "A server's database is named by its hosts, their ports and its name, without user and settings",
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
        "A server's URL is rejected if it has a password, verifies no server or names none",
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

@Suite("The reason why a connection to a server failed")
struct ConnectionFailureTests {
    private static let place = #"connection to server at "db1" (::1), port 5432 failed: "#

    @Test(
        "The reason for a failed connection is read from the SQLSTATE, in any language",
        arguments: [
            ("FATAL:  53300: sorry, too many clients already", StoreFailure.Kind.unavailable),
            ("FATAL:  53300: remaining connection slots are reserved for superusers", .unavailable),
            ("FATAL:  57P03: the database system is in recovery mode", .unavailable),
            ("FATAL:  57P03: the database system is not yet accepting connections", .unavailable),
            ("ВАЖНО:  57P03: система баз данных находится в режиме восстановления", .unavailable),
            ("FATAL:  28P01: password authentication failed for user \"crumb\"", .refused),
            ("FATAL:  28000: no pg_hba.conf entry for host \"::1\", user \"53300\"", .refused),
            ("ВАЖНО:  3D000: база данных \"crumb\" не существует", .refused),
            ("FATAL:  55000: database \"crumb\" is not currently accepting connections", .refused),
            ("FATAL:  53100: could not write init file: No space left on device", .full),
            ("fe_sendauth: no password supplied", .refused),
            ("Connection refused\n\tIs the server running on that host?", .unavailable),
        ])
    func kinds(reason: String, kind: StoreFailure.Kind) {
        let failure = StoreFailure(connecting: "\(Self.place)\(reason)\nLOCATION:  InitPostgres, postinit.c:835\n")
        #expect(failure.kind == kind)
        #expect(failure.code.hasPrefix(Self.place) && !failure.code.contains("LOCATION"))
    }

    @Test("A failed connection may be retried if one of several servers has a temporary reason")
    func severalServers() {
        let starting = "\(Self.place)FATAL:  57P03: the database system is starting up\n"
        let rejecting = "\(Self.place)FATAL:  28000: role \"crumb\" is not permitted to log in\n"
        #expect(StoreFailure(connecting: starting + rejecting).kind == .unavailable)
        #expect(StoreFailure(connecting: rejecting + starting).kind == .unavailable)
        #expect(StoreFailure(connecting: "").kind == .unavailable)
    }
}
