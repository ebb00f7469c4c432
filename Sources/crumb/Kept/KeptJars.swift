import SessionOperations
import SessionStore

/// The jars of one place, wherever it is: what commands ask of them, and answers that are what they print.
protocol KeptJars {
    /// All jars, by name.
    func list() throws -> [JarReport]

    /// Makes a jar.
    func create(named name: String, settings: JarSettings) throws -> JarSettingsReport

    /// The settings of a jar.
    func settings(ofJar name: String) throws -> JarSettingsReport

    /// Changes the settings of a jar.
    func changeSettings(ofJar name: String, _ changes: JarSettingsOptions) throws -> JarSettingsReport

    /// Gives a jar another name.
    func rename(jarNamed name: String, to newName: String) throws

    /// Makes a jar of what another one holds.
    func copy(jarNamed name: String, to newName: String) throws -> JarCopyReport

    /// Brings the cookies of one jar into another.
    func merge(jarNamed name: String, into target: String) throws -> JarMergeReport

    /// Removes every cookie of a jar.
    func clear(jarNamed name: String) throws -> JarClearReport

    /// Removes a jar.
    func remove(jarNamed name: String) throws -> JarRemovalReport

    /// Removes what has expired, of one jar or of all.
    ///
    /// - Parameters:
    ///   - journalEntries: how many entries of the journal stay.
    ///   - vacuum: whether the file is written anew; `nil` for where that is worthwhile.
    func prune(jarNamed name: String?, journalEntries: Int, vacuum: Bool?) throws -> PruneReport
}
