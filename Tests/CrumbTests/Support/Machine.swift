import Foundation
import Platform
import TestSupport

/// What the tests may do on this machine.
enum Machine {
    static let isRoot = geteuid() == 0

    /// What stands before a command so that permissions bind it: nothing for an ordinary user, a program that changes
    /// the user for root; `nil` where root cannot do that.
    static let unprivileged: [String]? = {
        guard isRoot else { return [] }
        let prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let home = CrumbHome(mode: 0o777)
        guard let result = try? home.crumb("--version", prefix: prefix), result.status == 0 else { return nil }
        return prefix
    }()

    /// Whether small file systems can be mounted.
    static let canMount = SmallDisk.isAvailable
}
