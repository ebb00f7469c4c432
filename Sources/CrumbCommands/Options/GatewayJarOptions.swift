import ArgumentParser
import SessionOperations
import SessionStore
import Synchronization

/// The jar of a gateway that a command runs itself: one in a database file, never one of a service.
struct GatewayJarOptions: ParsableArguments {
    @Option(help: DatabaseOptions.help)
    var database: String?

    @OptionGroup var suffixListOptions: SuffixListOptions

    @Option(
        name: [.customShort("j"), .customLong("jar")], help: JarOptions.nameHelp,
        completion: NameCompletion.jars)
    var jar: String?

    /// Runs a gateway with the jar, which is created if it does not exist. If the gateway does not start, it is removed
    /// again, so that a misspelled name leaves nothing.
    ///
    /// - Parameter run: Runs the gateway. It calls its second parameter once the gateway has started.
    func withJar(
        _ console: Console, run: (_ jar: CookieJar, _ hasStarted: @escaping @Sendable () -> Void) throws -> Void
    ) throws {
        let target = try options().target(now: console.now, nil)
        let (isNew, similar) = (target.jar == nil, target.similarJars)
        let kept = try target.writable()
        let started = Atomic(false)
        do {
            try run(kept) {
                started.store(true, ordering: .relaxed)
                if isNew { console.noteCreation(ofJar: kept.name, similarTo: similar) }
            }
        } catch {
            // Another process may have begun to use it.
            if isNew, !started.load(ordering: .relaxed), (try? kept.cookies().readable.isEmpty) == true {
                _ = try? kept.database.removeJar(named: kept.name)
            }
            throw error
        }
    }

    /// The same options for a database file or a service.
    private func options() throws -> JarOptions {
        let given = [
            ("database", database), ("public-suffix-list", suffixListOptions.publicSuffixList), ("jar", jar),
        ]
        return try JarOptions.parse(given.compactMap { name, value in value.map { "--\(name)=\($0)" } })
    }
}
