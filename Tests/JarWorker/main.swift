/// A process that uses a jar, for tests that kill it or set many of them on one file.
///
///     jar-worker write DATABASE KEY DURABILITY WORKER LAST-STEP FIRST-STEP...
///     jar-worker compete DATABASE KEY DURABILITY WORKER ROUNDS
///     jar-worker obey DATABASE KEY DURABILITY WORKER < ORDERS
///     jar-worker migrate DATABASE
///
/// Each acknowledged write or order is a line on standard output, written at once.
import Platform
import SQLiteEngine
import SessionStore
import TestSupport

let arguments = CommandLine.arguments.dropFirst()

do {
    if arguments.first == "migrate", let path = arguments.dropFirst().first {
        let later = LaterSchema.migrations.map { SchemaMigrations.Migration(name: $0.name, sql: Array($0.sql.utf8)) }
        _ = try SQLiteDatabase(
            path: path, waitsForDisk: false, busyTimeout: 3600, clock: FilePlaces.Clock(),
            migrations: SchemaMigrations.all + later)
        acknowledge("migrated")
        exit(0)
    }
    guard let task = WorkerTask(Array(arguments)) else { leave("the arguments make no sense") }
    try task.run()
} catch let error as SessionStoreError {
    leave("\(error.code.rawValue) \(error)")
} catch {
    leave("\(error)")
}
