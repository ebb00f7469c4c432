import Foundation
import TestSupport
import Testing

/// Programs that know passwords only get a login's token, and what they erase is renewed.
@Suite("crumb token helper and setup")
struct TokenHelperTests {
    private let home = CrumbHome()
    private let server: AuthorizationServer

    init() throws {
        server = try AuthorizationServer()
        let path = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let result = try home.start(
            ["token", "import", "work", "--issuer", server.issuer, "--client-id", "app", "--discover"], input: path
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
        try FileManager.default.removeItem(atPath: path)
    }

    /// What git's own machinery answers to a question.
    private func git(_ operation: String, _ question: String) throws -> RunResult {
        try home.write(question, to: "question")
        return try home.shell("GIT_TERMINAL_PROMPT=0 git credential \(operation) < question")
    }

    @Test("git gets the token through its setup, and a renewed one after it has erased the token")
    func git() throws {
        for _ in 1...2 {
            let setup = try home.crumb("token", "setup", "git", "--host", "git.example", "--login", "work", "--write")
            #expect(setup.status == 0 && setup.output.isEmpty, "\(setup.messages)")
        }
        let helpers = try home.shell("git config --global --get-all credential.https://git.example.helper").text
        #expect(helpers == "\n!crumb token helper git --host git.example --login work\n")
        let question = "protocol=https\nhost=git.example\n"
        let first = try git("fill", question)
        #expect(first.text.contains("username=oauth2\npassword=access-0\n"), "\(first.messages)")
        #expect(try git("approve", first.text).status == 0)
        // Somebody's old token is no reason to renew this one.
        #expect(try git("reject", question + "username=oauth2\npassword=old\n").status == 0)
        #expect(try git("fill", question).text.contains("password=access-0\n"))
        #expect(try git("reject", first.text).status == 0)
        #expect(server.forms(at: "/token").isEmpty)
        #expect(try git("fill", question).text.contains("password=access-1\n"))
        #expect(server.forms(at: "/token").count == 1)
        let other = try git("fill", "protocol=https\nhost=other.example\n")
        #expect(other.status != 0 && !other.text.contains("access-"))
        // The form that was there before erases, too.
        let erased = try home.crumb(
            "token", "export", "--format", "git-credential", "--host", "git.example", "work", "erase", input: question)
        #expect(erased.status == 0 && erased.output.isEmpty, "\(erased.messages)")
        #expect(try git("fill", question).text.contains("password=access-2\n"))
    }

    @Test("A token that cannot be renewed is not invalidated")
    func imported() throws {
        #expect(try home.crumb("token", "import", "bare", input: "tok-1").status == 0)
        let question = "protocol=https\nhost=git.example\npassword=tok-1\n"
        let erased = try home.crumb(
            "token", "helper", "git", "--host", "git.example", "--login", "bare", "erase", input: question)
        #expect(erased.status == 0)
        #expect(try home.crumb("token", "get", "bare").text == "tok-1\n")
    }

    @Test("docker's protocol: get, list, store and erase, by the program and the configuration that setup wrote")
    func docker() throws {
        try FileManager.default.createDirectory(atPath: home.file(".docker"), withIntermediateDirectories: true)
        let others = [#""big":18446744073709551615"#, #""flags":[true,null,-2,1.5,"é/"]"#]
        try home.write(
            #"{"credHelpers":{"other.example":"pass"},"auths":{"a":{}},\#(others.joined(separator: ","))}"#,
            to: ".docker/config.json")
        for _ in 1...2 {
            let setup = try home.crumb(
                "token", "setup", "docker", "--host", "registry.example:5000", "--login", "work", "--write", "--json")
            #expect(setup.status == 0 && !setup.text.contains("access-0"), "\(setup.messages)")
        }
        let text = home.bytes(".docker/config.json")
        let document = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        let compact = String(decoding: text, as: UTF8.self).replacing(" : ", with: ":").filter { !$0.isWhitespace }
        #expect(others.allSatisfy(compact.contains), "\(compact)")
        let helpers = document?["credHelpers"] as? [String: String]
        let name = "crumb-registry.example_5000"
        #expect(helpers == ["other.example": "pass", "registry.example:5000": name] && document?["auths"] != nil)
        let program = ".local/bin/docker-credential-\(name)"
        #expect(try home.mode(program) == 0o700)
        func ask(_ operation: String, _ input: String) throws -> RunResult {
            try home.write(input, to: "question")
            return try home.shell("\(program) \(operation) < question")
        }
        let given = try ask("get", "https://registry.example:5000\n")
        #expect(try given.objects().first?["Secret"] as? String == "access-0", "\(given.messages)")
        #expect(try given.objects().first?["ServerURL"] as? String == "https://registry.example:5000")
        #expect(try ask("list", "").text == "{\"registry.example:5000\":\"oauth2\"}\n")
        for other in ["https://index.docker.io/v1/", "http://registry.example:5000", "registry.example", ""] {
            let result = try ask("get", other)
            #expect(result.status == 1 && result.text == "credentials not found in native keychain\n", "\(other)")
        }
        #expect(try ask("store", given.text).status == 0)
        let foreign = try ask("store", given.text.replacing("access-0", with: "password"))
        #expect(
            foreign.status == 1 && foreign.text.contains("crumb token login") && !foreign.text.contains("password\""))
        #expect(try ask("erase", "registry.example:5000").status == 0)
        #expect(try ask("get", "registry.example:5000").text.contains("access-1"))
    }

    @Test("A configuration that is not JSON is left unchanged")
    func foreignConfiguration() throws {
        try FileManager.default.createDirectory(atPath: home.file(".docker"), withIntermediateDirectories: true)
        for text in ["{", "[]", #"{"credHelpers":[]}"#] {
            try home.write(text, to: ".docker/config.json")
            let setup = try home.crumb("token", "setup", "docker", "--host", "registry.example", "--write")
            #expect(setup.status == 73 && setup.messages.contains("config.json"), "\(setup.messages)")
            #expect(home.bytes(".docker/config.json") == Array(text.utf8))
        }
    }

    @Test(
        "Another helper for the host is named and stays, unless --force replaces it; other hosts' helpers do not matter"
    )
    func otherGitHelper() throws {
        let key = "credential.https://git.example.helper"
        let words = ["token", "setup", "git", "--host", "git.example", "--login", "work", "--write"]
        #expect(try home.shell("git config --global credential.https://other.example.helper store").status == 0)
        #expect(try home.shell("git config --global --add \(key) ''").status == 0)
        #expect(try home.shell("git config --global --add \(key) '!gh auth git-credential'").status == 0)
        let refused = try home.start(words).wait()
        #expect(refused.status == 28 && refused.messages.contains("!gh auth git-credential"), "\(refused.messages)")
        #expect(refused.messages.contains("--force"))
        #expect(try home.shell("git config --global --get-all \(key)").text == "\n!gh auth git-credential\n")
        #expect(try home.start(words + ["--force"]).wait().status == 0)
        #expect(!(try home.shell("git config --global --get-all \(key)").text.contains("gh")))
        #expect(try home.start(words).wait().status == 0)
    }

    @Test("docker's other helper for the host, and another program of the same name, are named and stay")
    func otherDockerHelper() throws {
        try FileManager.default.createDirectory(atPath: home.file(".docker"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: home.file(".local/bin"), withIntermediateDirectories: true)
        let program = ".local/bin/docker-credential-crumb-registry.example"
        let words = ["token", "setup", "docker", "--host", "registry.example", "--login", "work", "--write"]
        let configuration = #"{"credHelpers":{"registry.example":"ecr-login"}}"#
        try home.write(configuration, to: ".docker/config.json")
        let refused = try home.start(words).wait()
        #expect(refused.status == 28 && refused.messages.contains("ecr-login"), "\(refused.messages)")
        #expect(home.bytes(".docker/config.json") == Array(configuration.utf8) && home.bytes(program).isEmpty)
        try home.write("{}", to: ".docker/config.json")
        try home.write("#!/bin/sh\nexec mine\n", to: program, mode: 0o700)
        let other = try home.start(words).wait()
        #expect(other.status == 28 && other.messages.contains(program), "\(other.messages)")
        #expect(home.bytes(".docker/config.json") == Array("{}".utf8))
        #expect(try home.start(words + ["--force"]).wait().status == 0)
        #expect(String(decoding: home.bytes(program), as: UTF8.self).contains("token helper docker"))
        #expect(try home.start(words).wait().status == 0)
    }

    @Test("A user of the kubeconfig with other credentials is named without them, and stays")
    func otherKubectlUser() throws {
        try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
        let path = "\(home.file("bin")):\(home.environment["PATH"] ?? "")"
        func setUp(_ user: String, _ more: String...) throws -> RunResult {
            let view =
                #"{"kind":"Config","users":[{"name":"other","user":{"token":"x"}},{"name":"work","user":\#(user)}]}"#
            try home.write(
                "#!/bin/sh\ncase $2 in view) echo '\(view)';; *) touch \"$HOME/changed\";; esac\n", to: "bin/kubectl",
                mode: 0o700)
            try? FileManager.default.removeItem(atPath: home.file("changed"))
            return try home.start(
                ["token", "setup", "kubectl", "--login", "work", "--write"] + more, variables: ["PATH": path]
            ).wait()
        }
        for (user, word) in [
            (#"{"client-key-data":"s3cret"}"#, "client-key-data"), (#"{"token":"s3cret"}"#, "token"),
            (#"{"exec":{"command":"aws","args":["eks"]}}"#, "exec (aws)"),
        ] {
            let refused = try setUp(user)
            #expect(refused.status == 28 && refused.messages.contains(word), "\(refused.messages)")
            #expect(
                !refused.messages.contains("s3cret") && !FileManager.default.fileExists(atPath: home.file("changed")))
            #expect(try setUp(user, "--force").status == 0)
            #expect(FileManager.default.fileExists(atPath: home.file("changed")))
        }
        let own = #"{"exec":{"command":"crumb","args":["token","export","--format","kubernetes","old"]}}"#
        #expect(try setUp(own).status == 0)
        #expect(try setUp("{}").status == 0)
    }

    @Test("pip and uv get the token as from keyring; pnpm gets a field's value")
    func keyring() throws {
        func pip(_ words: String...) throws -> RunResult {
            try home.start(["token", "helper", "pip", "--host", "index.example", "--login", "work"] + words).wait()
        }
        for service in ["https://index.example/simple", "https://oauth2@index.example/simple/", "index.example"] {
            #expect(try pip("get", service, "oauth2").text == "access-0\n")
        }
        for words in [
            ["get", "https://index.example/simple", "me"], ["get", "https://other.example/", "oauth2"],
            ["get", "http://index.example/", "oauth2"], ["get"], ["nonsense", "index.example", "oauth2"],
        ] {
            let result = try home.start(
                ["token", "helper", "pip", "--host", "index.example", "--login", "work"] + words
            ).wait()
            #expect(result.status == 1 && result.output.isEmpty, "\(words)")
        }
        #expect(try pip("del", "index.example", "oauth2").status == 0)
        #expect(try pip("get", "index.example", "oauth2").text == "access-1\n")
        let npm = try home.crumb("token", "helper", "npm", "--host", "npm.example", "--login", "work")
        #expect(npm.text == "Bearer access-1\n")
    }

    @Test("Without --write, setup prints and writes nothing; kubectl's own command writes its file")
    func printed() throws {
        let git = try home.crumb("token", "setup", "git", "--host", "git.example", "--login", "work")
        #expect(git.text.contains("git config --global --add credential.https://git.example.helper"))
        let docker = try home.crumb("token", "setup", "docker", "--host", "registry.example")
        #expect(docker.text.contains(#"{"credHelpers": {"registry.example": "crumb-registry.example"}}"#))
        #expect(docker.text.contains(#"exec crumb token helper docker --host registry.example "$@""#))
        let kubectl = try home.crumb("token", "setup", "kubectl", "--login", "work")
        #expect(kubectl.text.hasPrefix("kubectl config set-credentials work --exec-api-version="))
        for result in [git, docker, kubectl] { #expect(!result.text.contains("access-0") && result.status == 0) }
        #expect(!FileManager.default.fileExists(atPath: home.file(".gitconfig")))
        #expect(!FileManager.default.fileExists(atPath: home.file(".local/bin")))
        try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
        try home.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/asked\"\n", to: "bin/kubectl", mode: 0o700)
        let path = "\(home.file("bin")):\(home.environment["PATH"] ?? "")"
        let written = try home.crumb(
            "token", "setup", "kubectl", "--login", "work", "--write", variables: ["PATH": path])
        #expect(written.status == 0, "\(written.messages)")
        #expect(
            String(decoding: home.bytes("asked"), as: UTF8.self).hasSuffix("--exec-arg=kubernetes\n--exec-arg=work\n"))
    }

    @Test(
        "Input that setup and helper cannot use is rejected",
        arguments: [
            ["setup", "git"], ["setup", "kubectl"], ["setup", "docker", "--host", "a/b"],
            ["setup", "git", "--host", "https://git.example"], ["setup", "kubectl", "--login", "work", "--host", "h"],
            ["setup", "svn"], ["helper", "git"], ["helper", "git", "--host", "a b"],
            ["helper", "docker", "--host", "h", "--username", "a b"],
        ])
    func usage(words: [String]) throws {
        #expect(try home.start(["token"] + words).wait().status == 64)
    }

    @Test(
        "A URL outside of the resource is said, and one within it is not",
        arguments: [
            ("https://a.example/api", "https://b.example/api", false),
            ("https://a.example/api", "https://a.example/", false),
            ("https://a.example/api", "http://a.example/api", false),
            ("https://a.example/api", "https://a.example/api/me?x=1", true),
            ("https://a.example", "https://a.example/me", true),
            ("urn:example:api", "https://a.example/me", true),
        ])
    func resource(resource: String, url: String, agrees: Bool) throws {
        let result = try home.crumb("token", "header", "work", "--resource", resource, "--url", url)
        #expect(result.status == 0 && result.text.hasPrefix("Authorization: Bearer access-"), "\(result.messages)")
        #expect(result.messages.isEmpty == agrees, "\(result.messages)")
        if !agrees { #expect(result.messages.contains(resource) && result.messages.contains(url)) }
    }

    @Test("`setup` rejects a login that does not exist")
    func unknownLogin() throws {
        #expect(try home.crumb("token", "setup", "git", "--host", "h.example", "--login", "typo").status == 40)
    }
}
