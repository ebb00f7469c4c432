package import CookieModel
package import SessionStore

/// The jar that cookies of captures and answers go into. A jar that does not exist is created with the first cookie that
/// it would store, so that nothing but a stored cookie makes one.
package final class LazyJar {
    /// The name of the jar.
    package let name: String
    /// The jar, once it exists.
    package private(set) var jar: CookieJar?
    /// The rules that apply.
    package let policy: CookiePolicy
    /// Creates the jar; `nil` if nothing may be stored.
    private let creation: (() throws(SessionStoreError) -> CookieJar)?
    /// The names of jars that may be meant, if the jar does not exist.
    package let similarJars: [String]
    /// The cookies that a dry run has received so far.
    private var dryRun: MemoryBatch?

    /// Whether nothing may be stored.
    package var isDryRun: Bool { creation == nil }

    /// A jar that exists.
    package init(_ jar: CookieJar) {
        (name, self.jar, policy, creation) = (jar.name, jar, jar.policy, { () throws(SessionStoreError) in jar })
        similarJars = []
    }

    /// A jar that may not exist yet.
    ///
    /// - Parameters:
    ///   - jar: the jar; `nil` if it does not exist.
    ///   - policy: the rules of a jar that is created.
    ///   - similarJars: the names of jars that may be meant.
    ///   - creation: creates the jar; `nil` for a dry run, which stores nothing.
    package init(
        named name: String, existing jar: CookieJar?, policy: CookiePolicy, similarJars: [String] = [],
        creation: (() throws(SessionStoreError) -> CookieJar)?
    ) {
        (self.name, self.jar, self.policy, self.creation) = (name, jar, jar?.policy ?? policy, creation)
        self.similarJars = similarJars
    }

    /// Receives one response, in one transaction.
    package func receive(
        _ response: ReceivedResponse, now: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        let decisions = try inMemory(now: now) { batch in batch.receive(response) }
        if let decisions { return decisions }
        return try writable().receive(response, now: now)
    }

    /// Runs `body` in memory, if the cookies that it receives must not or need not be stored in the jar.
    ///
    /// - Returns: the result of `body`; `nil` if it has to run on the jar itself.
    func inMemory<Value>(
        now: Timestamp, _ body: (inout MemoryBatch) throws(SessionStoreError) -> Value
    ) throws(SessionStoreError) -> Value? {
        guard isDryRun || jar == nil else { return nil }
        var batch: MemoryBatch
        if let dryRun { batch = dryRun } else { batch = try MemoryBatch(of: jar, policy, now: now) }
        let value = try body(&batch)
        if isDryRun { dryRun = batch } else if batch.hasStored { return nil }
        return value
    }

    /// The jar, created if it does not exist.
    package func writable() throws(SessionStoreError) -> CookieJar {
        if let jar { return jar }
        guard let creation else { throw SessionStoreError(noJarNamed: name) }
        let jar = try creation()
        self.jar = jar
        return jar
    }
}
