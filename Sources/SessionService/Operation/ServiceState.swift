import CookieModel
import OAuth2
import Platform
import ServiceLifecycle
import SessionStore
import Synchronization

/// Whether the service answers, for health checks and for systemd.
final class ServiceState: Service, Sendable {
    /// How far the service is.
    enum Phase: String, Sendable {
        case starting
        case ready
        case stopping
    }

    private let current = Mutex(Phase.starting)
    private let notifier: SystemdNotifier
    private let announce: @Sendable () -> Void

    /// - Parameter announce: is called when the service begins to stop.
    init(notifier: SystemdNotifier = SystemdNotifier(), announcingStop announce: @escaping @Sendable () -> Void = {}) {
        self.notifier = notifier
        self.announce = announce
    }

    var phase: Phase { current.withLock { $0 } }

    func run() async throws {
        // Of services that run together this one hears first that they are to stop.
        await withGracefulShutdownHandler {
            current.withLock { if $0 == .starting { $0 = .ready } }
            notifier.ready()
            try? await gracefulShutdown()
        } onGracefulShutdown: {
            self.current.withLock { $0 = .stopping }
            self.notifier.stopping()
            self.announce()
        }
    }
}

/// The owner's access token for TCP: in a file that its owner alone can read.
struct OwnerToken {
    static let name = "owner"
    /// A token and a line's end, and some room.
    private static let sizeLimit = 256

    let path: String

    /// Sees to it that the file holds a token that is valid.
    ///
    /// - Parameter isShared: whether services of other machines use the database, and have the owner's token in files of
    ///   theirs: it is not ended for this one.
    /// - Returns: whether it was made again.
    func prepare(_ store: ServiceTokenStore, isShared: Bool = false, now: Timestamp) throws -> Bool {
        if let bytes = try? FileSystem.contents(path, limit: OwnerToken.sizeLimit) {
            guard PrivateFile.isPrivate(path) else {
                throw ServiceStartError(
                    .fileUnusable,
                    "\(path): other users can read this access token; revoke it, remove the file, and start "
                        + "again"
                )
            }
            let text = Secret(bytes.filter { $0 > 0x20 })
            if try store.token(text, now: now) != nil { return false }
        }
        // A token whose file is lost is of no use. One whose file exists was revoked, or belongs to another database.
        if !isShared { _ = try store.revoke(named: OwnerToken.name, now: now) }
        let token = try makeToken(store, isShared: isShared, now: now)
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.replace(token.exposedBytes + [UInt8(ascii: "\n")], at: path)
        guard failure == 0 else {
            throw ServiceStartError(
                .fileUnusable,
                "\(path): the access token cannot be written: \(SystemError(failure).message(creating: path))")
        }
        return true
    }

    private func makeToken(_ store: ServiceTokenStore, isShared: Bool, now: Timestamp) throws -> Secret {
        var generator = SystemRandomNumberGenerator()
        do {
            return try store.create(named: OwnerToken.name, grant: .everything, now: now, using: &generator)
        } catch {
            guard isShared, error.code == .nameInvalid else { throw error }
            throw ServiceStartError(
                .fileUnusable,
                "\(path): another service has the access token '\(OwnerToken.name)' of this database; copy its file "
                    + "here, or use no token file")
        }
    }
}

/// Why the service does not start: a stable code, and one sentence that an administrator can act on.
package struct ServiceStartError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    enum Code: String, Sendable {
        /// The configuration is not valid.
        case configurationInvalid = "configuration-invalid"
        /// An address cannot be listened on.
        case addressUnavailable = "address-unavailable"
        /// Another process listens there.
        case addressInUse = "address-in-use"
        /// An address that others can reach, without the required protection.
        case unprotected
        /// The certificate or its key cannot be used.
        case certificateInvalid = "certificate-invalid"
        /// A file cannot be read or written.
        case fileUnusable = "file-unusable"
    }

    /// The kind of failure.
    let code: Code
    /// One sentence that names the subject and the remedy. Never contains a secret.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
