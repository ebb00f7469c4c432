import CookieModel
import Logging
import NIOCore
import NIOPosix
import OAuth2
import ServiceLifecycle
import SessionStore

/// The service's periodic tasks: it removes expired data, renews tokens before they end if their profile is set to do
/// so, and records the last uses of access tokens.
struct Housekeeper: Service {
    /// How often it checks for work.
    private static let interval = Duration.seconds(15)
    /// How long tokens are left alone that could not be renewed.
    private static let pauseSeconds: Int64 = 300

    let database: SessionDatabase
    /// Threads that may wait for the database.
    let writers: NIOThreadPool
    let uses: TokenUses
    let refresher: TokenRefresher
    let configuration: ServiceConfiguration
    let logger: Logger
    /// Logs persistent failures at intervals.
    let health: ServiceHealth
    let now: @Sendable () -> Timestamp

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var lastPruning = now()
            var pauses: [String: Timestamp] = [:]
            while true {
                try await Task.sleep(for: Housekeeper.interval)
                lastPruning = await prune(since: lastPruning)
                await refresh(&pauses)
                await noteUses()
            }
        }
        await noteUses()
    }

    /// Removes expired data, if it is time.
    ///
    /// - Returns: the time of the last removal.
    func prune(since last: Timestamp) async -> Timestamp {
        let now = now()
        // A last time in the future is from before the clock was set back.
        guard configuration.pruneMinutes > 0,
            now < last || now >= last.advanced(bySeconds: Int64(configuration.pruneMinutes) * 60)
        else { return last }
        await perform("pruning-failed", "Removing expired data failed") { [database, logger] in
            // Without writing the file again, which would hold up everybody.
            let pruning = try database.prune(vacuum: .never, now: now)
            let count = pruning.expiredCookies.values.reduce(0, +)
            if count > 0 { logger.info("Removed expired cookies", metadata: ["count": "\(count)"]) }
            if pruning.removedJars > 0 {
                logger.info("Emptied the bin of jars", metadata: ["count": "\(pruning.removedJars)"])
            }
        }
        return now
    }

    /// Renews the tokens that end soon and whose profile asks for it.
    ///
    /// - Parameter pauses: until when profiles are left alone whose tokens could not be renewed.
    func refresh(_ pauses: inout [String: Timestamp]) async {
        guard configuration.refreshAheadSeconds > 0 else { return }
        let now = now()
        let due = await perform("refresh-ahead-failed", "Finding tokens that expire soon failed") { [pauses] in
            try database.tokens.all().compactMap { try? $0.get() }.filter { stored in
                try stored.refusal == nil && !isPaused(until: pauses[stored.profile.name], now)
                    && isDue(stored.tokens, now)
                    && database.tokens.credentials(stored.profile.name)?.settings.refreshesAhead == true
            }
        }
        // A service that stops begins nothing new.
        for stored in due ?? [] where !Task.isCancelled {
            let name = stored.profile.name
            do {
                _ = try await refresher.refreshed(insteadOf: stored)
                pauses[name] = nil
                logger.info("Renewed tokens ahead of their expiry", metadata: ["profile": "\(name)"])
            } catch {
                pauses[name] = now.advanced(bySeconds: Housekeeper.pauseSeconds)
                logger.warning(
                    "Renewing tokens failed", metadata: ["profile": "\(name)", "error": "\(error.commandDescription)"])
            }
        }
    }

    /// Whether a profile is still left alone. A pause that is longer than any was begun before the clock was set back.
    private func isPaused(until end: Timestamp?, _ now: Timestamp) -> Bool {
        guard let end else { return false }
        return now < end && end <= now.advanced(bySeconds: Housekeeper.pauseSeconds)
    }

    /// Whether tokens end soon. Of short-lived ones the first half is let pass, so that they are not renewed all the
    /// time.
    private func isDue(_ tokens: TokenSet, _ now: Timestamp) -> Bool {
        let renewal = tokens.accessTokenLifetime.renewal(skew: .seconds(configuration.refreshAheadSeconds))
        return renewal.map { now >= $0 } ?? false
    }

    /// Records the last uses of access tokens, even if the service is stopping.
    func noteUses() async {
        let moments = uses.take()
        // A task of its own, because a cancelled one starts no work on the threads.
        let recorded: Void? = await Task {
            await perform("token-use-lost", "Recording the use of access tokens failed") { [database] in
                try database.serviceTokens.noteUse(moments)
            }
        }.value
        if recorded == nil { uses.putBack(moments) }
    }

    /// Performs a task on a thread that may block. A failed task is tried again next time, because a database that cannot
    /// be written now may be writable later. A cancelled task is no failure: the service is stopping.
    ///
    /// - Parameter kind: the code of the failure in the log, which has a line every ten minutes while the failure
    ///   persists.
    /// - Returns: the result; `nil` for a failure or a cancelled task.
    @discardableResult
    private func perform<Result: Sendable>(
        _ kind: String, _ failure: Logger.Message, _ body: @escaping @Sendable () throws -> Result
    ) async -> Result? {
        do {
            return try await writers.runIfActive(body)
        } catch is CancellationError {
            return nil
        } catch {
            health.warn(kind, failure, ["error": "\(error.commandDescription)"], every: .minutes(10))
            return nil
        }
    }
}
