extension Plan {
    /// The subjects of the jar on disk, held against bare SQLite and libsoup's SQLite jar.
    static let onDisk = [
        Plan(
            subject: "jar-import", jarSizes: [100_000], rounds: 7, quickJarSizes: [10_000], quickRounds: 1,
            remark: " (wall clock)", roles: [.crumb, .libsoup, .sqlite].map { Role($0) },
            goal: { _ in .against([(.sqlite, 0.4), (.libsoup, 5)]) }),
        Plan(
            subject: "jar-transactions", jarSizes: [10_000], rounds: 9, quickJarSizes: [1000], quickRounds: 1,
            roles: [.crumb, .sqlite].map { Role($0) }, goal: { _ in .against([(.sqlite, 0.5)]) }),
        Plan(
            subject: "jar-full", jarSizes: [10_000], rounds: 5, quickJarSizes: [1000], quickRounds: 1,
            remark: " (wall clock)", roles: [.crumb, .sqlite].map { Role($0) },
            goal: { _ in .against([(.sqlite, 4)]) }),
        Plan(
            subject: "jar-header-warm", jarSizes: [100_000], rounds: 9, quickJarSizes: [1000], quickRounds: 1,
            roles: [Role(.crumb), Role(.libsoup, part: "header"), Role(.memory, part: "header")],
            comparesHeaders: true, goal: { _ in .against([(.memory, 0.5)]) }),
        Plan(
            subject: "jar-header-first", jarSizes: [100_000], rounds: 15, quickJarSizes: [10_000], quickRounds: 2,
            roles: [.crumb, .sqlite].map { Role($0) }, goal: { _ in .against([(.sqlite, 0.4)]) }),
        Plan(
            subject: "decorate", jarSizes: [100_000], rounds: 15, quickJarSizes: [1000], quickRounds: 3,
            roles: [Role(.crumb), Role(.lookup, part: "jar-header-warm")], comparesHeaders: true,
            goal: { _ in .slower(than: .lookup, atMost: 1.5) }),
        Plan(
            subject: "script", jarSizes: [1000], rounds: 15, quickJarSizes: [1000], quickRounds: 3,
            remark: " (wall clock)",
            roles: [
                Role(.crumb), Role(.libcurl, part: "loopback-request"), Role(.loopback, part: "loopback-request"),
            ], goal: { _ in .slower(than: .libcurl, atMost: 1) }),
        Plan(
            subject: "command-header", jarSizes: [100_000, 1_000_000], rounds: 9, quickJarSizes: [1000, 10_000],
            quickRounds: 1, namesSize: true, remark: " (wall clock)",
            // One driver runs both programs, so that both are timed alike.
            roles: [Role(.crumb), Role(.sqlite, program: Peer.crumb.program, part: "command-header-bare")],
            keptSpeed: 0.8, goal: { _ in .slower(than: .sqlite, atMost: 8) }),
        Plan(
            subject: "command-token", jarSizes: [100_000], rounds: 9, quickJarSizes: [1000], quickRounds: 3,
            remark: " (wall clock)", roles: [Role(.crumb), Role(.lookup, part: "command-header")],
            goal: { _ in .slower(than: .lookup, atMost: 1) }),
    ]
}
