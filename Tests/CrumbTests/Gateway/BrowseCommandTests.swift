#if os(Linux)
    import Foundation
    import Platform
    import TestSupport
    import Testing

    @Suite("The ends of crumb browse and crumb run", .timeLimit(.minutes(10)))
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

        /// Takes no file that holds no certificate.
        private static let certutil = """
            #!/bin/sh
            for file; do :; done
            case "$*" in *" -A "*) grep -q "BEGIN CERTIFICATE" "$file" ;; esac
            """

        private func start(ending: String, url: String = "https://www.shop.example/") throws -> RunningProcess {
            try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
            try home.write(Self.browser, to: "bin/chromium", mode: 0o700)
            try home.write(Self.certutil, to: "bin/certutil", mode: 0o700)
            return try home.start(
                ["browse", url],
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

        private var folders: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasPrefix("crumb-") }
            }
        }

        /// Whether a process whose number is in a file has ended. What has ended, and nobody has asked for, has no command
        /// line any more.
        private func hasEnded(_ file: String) -> Bool {
            let number = String(decoding: home.bytes(file), as: UTF8.self).filter(\.isNumber)
            return !number.isEmpty
                && (FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()).isEmpty
        }

        /// Waits until something is the case, a minute at most.
        private func wait(until isSo: () throws -> Bool) rethrows -> Bool {
            let deadline = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < deadline {
                if try isSo() { return true }
                usleep(10_000)
            }
            return false
        }

        @Test("If crumb browse is killed, its browser and the helpers end, and the profile is removed")
        func killed() throws {
            let process = try start(ending: "signal")
            #expect(wait { FileManager.default.fileExists(atPath: home.file("ready")) })
            process.kill()
            #expect(process.wait().status == -SIGKILL)
            #expect(try wait { try hasEnded("helper") && folders.isEmpty })
        }

        private static let command = """
            sh -c 'trap "" TERM; echo $$ >helper; while :; do sleep 0.02; done' &
            echo $$ >command; while [ ! -s helper ]; do sleep 0.02; done; touch ready; while :; do sleep 0.02; done
            """

        private func startCommand() throws -> RunningProcess {
            let process = try home.start(
                ["run", "--", "sh", "-c", "cd \(home.path); \(Self.command)"], variables: ["XDG_RUNTIME_DIR": nil])
            #expect(wait { FileManager.default.fileExists(atPath: home.file("ready")) })
            return process
        }

        @Test("If crumb run is killed, its command ends with what it has started, and the folder is removed")
        func killedRun() throws {
            let process = try startCommand()
            process.kill()
            #expect(process.wait().status == -SIGKILL)
            #expect(try wait { try hasEnded("helper") && hasEnded("command") && folders.isEmpty })
        }

        @Test("The next run removes what killed ones have left, and nothing of those that run, or of others")
        func leftovers() throws {
            let process = try startCommand()
            defer {
                process.send(SIGKILL)
                _ = process.wait()
            }
            let live = try folders
            #expect(live.count == 1)
            for name in [
                "crumb-run-dead01", "crumb-browse-dead02/profile", "crumb-token-dead03", "crumb-other-1", "kept",
            ] {
                try FileManager.default.createDirectory(atPath: home.file(name), withIntermediateDirectories: true)
                try home.write("secret", to: "\(name)/file")
            }
            try FileManager.default.createSymbolicLink(
                atPath: home.file("crumb-run-linked"), withDestinationPath: home.file("kept"))
            var kept = live + ["crumb-other-1", "crumb-run-linked"]
            if geteuid() == 0 {
                // Another user's folder.
                try FileManager.default.createDirectory(
                    atPath: home.file("crumb-run-other1"), withIntermediateDirectories: true)
                #expect(chown(home.file("crumb-run-other1"), 65534, 65534) == 0)
                kept.append("crumb-run-other1")
            }
            let orphan = try RunningProcess(
                "/bin/sh", ["-c", "echo $$ >\(home.file("orphan")); sleep 1000"],
                environment: ["CA": home.file("crumb-run-dead01/ca.pem"), "PATH": "/usr/bin:/bin"], scratch: home.path)
            #expect(wait { !home.bytes("orphan").isEmpty })
            let next = try home.crumb("run", "--", "true", variables: ["XDG_RUNTIME_DIR": nil])
            #expect(next.status == 0, "\(next.messages)")
            #expect(try folders.sorted() == kept.sorted())
            #expect(orphan.wait().status == -SIGTERM)
            #expect(home.bytes("kept/file") == Array("secret".utf8))
            #expect(!hasEnded("command"))
        }

        /// What `ls -l /proc/self/fd` says of the descriptors that a program was started with.
        private func numbers(in listing: String) -> [String] {
            // The listing's own descriptor leads to the folder.
            listing.split(separator: "\n").filter { $0.contains(" -> ") && !$0.contains(" -> /proc/") }.compactMap {
                line in
                line.components(separatedBy: " -> ").first?.split(separator: " ").last.map(String.init)
            }.sorted()
        }

        private static let starts = [
            "crumb run -- ls -l /proc/self/fd 7</dev/null",
            "crumb browse http://shop.example/ 7</dev/null; cat listing",
            "crumb curl http://shop.example/ 7</dev/null; cat listing",
            "crumb token exec work -- ls -l /proc/self/fd 7</dev/null",
            "crumb token exec work --file F -- ls -l /proc/self/fd 7</dev/null",
        ]

        @Test(
            "Programs get the standard streams and what crumb was started with, and no descriptor of crumb's own",
            arguments: starts)
        func descriptors(command: String) throws {
            let lists = "#!/bin/sh\nexec ls -l /proc/self/fd >\(home.file("listing"))\n"
            try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
            for name in ["chromium", "curl"] { try home.write(lists, to: "bin/\(name)", mode: 0o700) }
            try home.write("#!/bin/sh\n", to: "bin/certutil", mode: 0o700)
            // The token has expired, so the program has spoken to a server when it starts the command.
            let server = try LoopbackServer { _ in
                LoopbackServer.Response(body: #"{"access_token":"new","token_type":"Bearer","expires_in":900}"#)
            }
            let tokens = #"{"access_token":"old","refresh_token":"r","expires_at":1000}"#
            let imported = try home.crumb(
                "token", "import", "work", "--client-id", "app", "--endpoint",
                "token_endpoint=http://127.0.0.1:\(server.port)/", input: tokens)
            #expect(imported.status == 0, "\(imported.messages)")
            // The tests' own descriptors may reach the shell.
            let result = try home.shell(
                "export PATH=\(home.file("bin")):$PATH; ls -l /proc/self/fd 7</dev/null; echo; \(command)")
            // Files for curl are pipes under high numbers.
            let listings = result.text.components(separatedBy: "\n\n").map { listing in
                numbers(in: listing).filter { command.contains("curl") ? $0.count < 3 : true }
            }
            let found = listings.last ?? []
            #expect(listings.count == 2 && found.contains("7"))
            #expect(found == listings[0], "\(result.text)\(result.messages)")
        }

        @Test(
            "The page may be at a single label, a public suffix or an address, without any cookie in the jar",
            arguments: [
                "http://wiki/", "https://github.io/", "https://shop.example./", "http://127.0.0.1/", "https://[::1]/",
            ])
        func sites(url: String) throws {
            let result = try start(ending: "status", url: url).wait()
            #expect(result.status == 3, "\(result.messages)")
        }

        /// Runs `crumb browse` with a browser that writes its arguments and preferences into files and fails.
        private func recordStart(_ words: String...) throws -> RunResult {
            try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
            let browser = """
                #!/bin/sh
                printf '%s\\n' "$@" >"\(home.file("words"))"
                for word; do case $word in --user-data-dir=*) profile=${word#*=};; esac; done
                cp "$profile/Default/Preferences" "\(home.file("preferences"))"
                exit 1
                """
            try home.write(browser, to: "bin/chromium", mode: 0o700)
            try home.write(Self.certutil, to: "bin/certutil", mode: 0o700)
            let path = "\(home.file("bin")):\(home.environment["PATH"] ?? "")"
            return try home.start(["browse", "http://shop.example/"] + words, variables: ["PATH": path]).wait()
        }

        @Test("Chromium starts without the services that connect to its maker on their own")
        func backgroundServices() throws {
            #expect(try recordStart().status == 1)
            let lines = String(decoding: home.bytes("words"), as: UTF8.self).split(separator: "\n")
            let words = Set(lines.map(String.init))
            let switches: Set = [
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-default-apps", "--disable-domain-reliability", "--disable-client-side-phishing-detection",
                "--no-first-run",
            ]
            #expect(words.isSuperset(of: switches), "\(switches.subtracting(words))")
            let preferences = try #require(
                try JSONSerialization.jsonObject(with: Data(home.bytes("preferences"))) as? [String: Any])
            let profile = preferences["profile"] as? [String: Any]
            #expect(profile?["password_manager_leak_detection"] as? Bool == false)
            #expect((preferences["safebrowsing"] as? [String: Any])?["enabled"] as? Bool == false)
        }

        @Test("If root's Chromium does not start, a note names the option that is missing, and its risk")
        func root() throws {
            let result = try recordStart()
            #expect(result.status == 1)
            #expect(result.messages.contains("be another user, or add -- --no-sandbox,") == (geteuid() == 0))
            #expect(!(try recordStart("--", "--no-sandbox").messages.contains("--no-sandbox")))
            #expect(!(try recordStart("--quiet").messages.contains("--no-sandbox")))
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
