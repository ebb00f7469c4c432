import ServiceLifecycle
import Synchronization

/// Whether the service answers, for those who ask and for systemd.
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
