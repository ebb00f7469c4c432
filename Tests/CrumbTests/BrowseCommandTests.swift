#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    @Suite("The ends of crumb browse", .timeLimit(.minutes(10)))
    struct BrowseCommandTests {
        private let home = CrumbHome()

        /// A browser with a helper in a session of its own, which ends, crashes or runs on.
        private static let browser = """
            #!/bin/sh
            for word; do case $word in --user-data-dir=*) profile=${word#*=};; esac; done
            setsid sh -c 'echo $$ >"$1"; while :; do touch "$0/alive"; sleep 0.02; done' "$profile" "$HELPER" &
            while [ ! -s "$HELPER" ]; do sleep 0.02; done
            touch "$READY"
            case $ENDING in
                status) exit 3 ;;
                crash) kill -9 $$ ;;
            esac
            exec sleep 1000
            """

        private func start(ending: String) throws -> RunningProcess {
            try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
            try home.write(Self.browser, to: "bin/chromium", mode: 0o700)
            try home.write("#!/bin/sh\n", to: "bin/certutil", mode: 0o700)
            return try home.start(
                ["browse", "https://www.shop.example/"],
                variables: [
                    "PATH": "\(home.file("bin")):\(home.environment["PATH"] ?? "")", "ENDING": ending,
                    "HELPER": home.file("helper"), "READY": home.file("ready"), "XDG_RUNTIME_DIR": nil,
                ])
        }

        private static let endings: [(ending: String, signal: Int32, status: Int32)] = [
            ("status", 0, 3), ("crash", 0, 137), ("signal", SIGTERM, 143), ("signal", SIGINT, 130),
            ("signal", SIGHUP, 129),
        ]

        @Test("However the browser ends, no process and no folder of it stays", arguments: endings)
        func ends(ending: String, signal: Int32, status: Int32) throws {
            let process = try start(ending: ending)
            for _ in 0..<3000 where !FileManager.default.fileExists(atPath: home.file("ready")) { usleep(20_000) }
            if signal != 0 { process.send(signal) }
            let result = process.wait()
            #expect(result.status == status, "\(result.messages)")
            let helper = String(decoding: home.bytes("helper"), as: UTF8.self).filter(\.isNumber)
            #expect(!helper.isEmpty)
            // What has ended, and nobody has asked for, has no command line any more.
            #expect((FileManager.default.contents(atPath: "/proc/\(helper)/cmdline") ?? Data()).isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
            #expect(!left.contains { $0.hasPrefix("crumb-browse") }, "\(left)")
        }

        @Test("A signal before the browser has started ends the command, and leaves nothing")
        func early() throws {
            let process = try start(ending: "signal")
            process.send(SIGTERM)
            let result = process.wait()
            #expect(result.status == 143 || result.status == -SIGTERM, "\(result.messages)")
            let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
            #expect(!left.contains { $0.hasPrefix("crumb-browse") }, "\(left)")
        }
    }
#endif
