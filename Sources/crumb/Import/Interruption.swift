import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Control-C while something is under way that is worth finishing in part.
enum Interruption {
    private static let wasRequested = Atomic<Bool>(false)

    /// Whether it was pressed.
    static var isRequested: Bool { wasRequested.load(ordering: .relaxed) }

    /// Listens from now on. A second Control-C ends the process, as it does everywhere.
    static func listen() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interruption.wasRequested.store(true, ordering: .relaxed) }
        // Without SA_RESTART, so that a pipe that nothing comes out of is not waited for.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
    }
}
