package import OAuth2
package import PackageStore
import Platform
package import SessionClient
package import SessionOperations
package import SessionStore
import Synchronization

/// The functions that need an HTTP client, TLS and JSON Web Tokens. The program `crumb-network` has them, and `crumb`
/// does not.
///
/// Both run the same commands. A command that requires the network in `crumb` replaces the program by the other one,
/// with the same arguments, and starts again there. So the process that sends a request also stores the response.
package struct Network: Sendable {
    /// Draws a text as a QR code for a terminal: its lines, and how many columns they take; `nil` if it is too long.
    package typealias QRCodeDrawing = @Sendable (_ text: String, _ usesColor: Bool) -> (lines: [String], columns: Int)?

    /// Makes the transport that sends requests to a service.
    ///
    /// Its second parameter are certificates in PEM that are trusted besides the system's. Throws `CommandFailure` if a setting
    /// cannot be used.
    package typealias ServiceAccess =
        @Sendable (_ address: SessionAddress, _ authorities: String?) throws -> any SessionTransport

    /// Sends requests to authorization servers.
    let endpoints: any EndpointTransport
    /// Checks the signatures of ID tokens.
    let checkIDToken: IDTokenCheck
    let service: ServiceAccess
    let drawQRCode: QRCodeDrawing
    /// Runs the service until it is told to stop. Throws `CommandFailure` if it does not start.
    let serve: @Sendable (ServiceOrder) async throws -> Void
    /// Runs a gateway until it is told to stop. Throws `CommandFailure` if it does not start.
    let runGateway: @Sendable (GatewayJob) async throws -> Void
    /// Downloads a package, or the rest of it. Throws `PackageError` if that fails.
    let fetchPackage: @Sendable (PackageDownload) async throws -> Void
    /// Makes what loads pages through a gateway that runs.
    let pages: @Sendable (_ access: GatewayJob.Access) throws -> any PageTransport
    /// Creates an authority for a gateway, to be stored.
    let createAuthority: @Sendable (_ hosts: [WebHost], _ now: Timestamp) throws -> StoredAuthority
    /// Opens and upgrades databases on servers.
    let servers: ServerAccess

    /// Creates the network of a program.
    package init(
        endpoints: any EndpointTransport, checkingIDTokens checkIDToken: @escaping IDTokenCheck,
        service: @escaping ServiceAccess, drawingQRCodes drawQRCode: @escaping QRCodeDrawing,
        serving serve: @escaping @Sendable (ServiceOrder) async throws -> Void,
        runningGateway runGateway: @escaping @Sendable (GatewayJob) async throws -> Void,
        fetchingPackages fetchPackage: @escaping @Sendable (PackageDownload) async throws -> Void,
        loadingPages pages: @escaping @Sendable (GatewayJob.Access) throws -> any PageTransport,
        creatingAuthorities createAuthority: @escaping @Sendable ([WebHost], Timestamp) throws -> StoredAuthority,
        servers: ServerAccess
    ) {
        self.endpoints = endpoints
        self.checkIDToken = checkIDToken
        self.service = service
        self.drawQRCode = drawQRCode
        self.serve = serve
        self.runGateway = runGateway
        self.fetchPackage = fetchPackage
        self.pages = pages
        self.createAuthority = createAuthority
        self.servers = servers
    }

    private static let own = Mutex<Network?>(nil)

    /// The network of this program; `nil` in `crumb`.
    static var current: Network? { own.withLock { $0 } }

    /// Gives this program its network, before a command runs.
    static func use(_ network: Network) {
        own.withLock { $0 = network }
    }

    /// The network. A program without one is replaced, and the command starts again.
    ///
    /// Call it before standard input is read, before anything is written, and before a lease is taken.
    ///
    /// - Throws: `CommandFailure` if the other program cannot be run.
    static func required() throws -> Network {
        if let network = current { return network }
        try ProgramReplacement.run()
    }
}

/// The replacement of `crumb` by the program that has a network, in the same process.
enum ProgramReplacement {
    private static let name = "crumb-network"
    /// The variable for the other program: the number of the process, the descriptor of a pipe with the secrets that were
    /// taken out of the environment, and the path of `crumb`.
    private static let variable = "_CRUMB_REPLACED"
    /// How many bytes a pipe holds on every system before they are read.
    private static let pipeSize = 1 << 14

    /// The secrets and the path that the replaced program left; `nil` if there was none.
    private static let legacy: (secrets: [SecretVariable: Secret], path: String)? = {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        unsetenv(variable)
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        // Another process inherited it.
        guard parts.count == 3, parts[0] == "\(getpid())", let descriptor = Int32(parts[1]) else { return nil }
        return (secrets(in: descriptor), String(parts[2]))
    }()

    /// The secrets that the program before this one has taken out of the environment.
    static var secrets: [SecretVariable: Secret] { legacy?.secrets ?? [:] }

    /// Takes over from the program before this one, if there was one. Call it first of all.
    static func begin() {
        _ = legacy
    }

    /// The path of `crumb`, also if that was replaced.
    static var ownPath: String? { legacy?.path ?? FileSystem.program }

    /// Replaces this program.
    static func run() throws -> Never {
        let program = try path()
        // A program of that name that needs to be replaced as well would go on for ever.
        guard legacy == nil else {
            throw CommandFailure(
                .networkProgramNotFound, "\(program): it has failed, or belongs to another version of crumb")
        }
        let descriptor = try handOver()
        setenv(variable, "\(getpid()):\(descriptor):\(FileSystem.program ?? "crumb")", 1)
        let words = ProcessArguments.words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        execv(program, words)
        let failure = errno
        unsetenv(variable)
        close(descriptor)
        throw CommandFailure(.networkProgramNotFound, "\(program): it cannot be run: \(SystemError(failure).message)")
    }

    /// Finds the program: beside this one, as both are built and installed together, else on the search path.
    private static func path(environment: [String: String] = ProcessEnvironment.variables) throws -> String {
        let beside = FileSystem.program.map { FileSystem.folder(of: FileSystem.resolved($0)) }
        let folders = [beside].compactMap(\.self) + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { "\($0)/\(name)" }
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                .networkProgramNotFound, "\(name) was found neither beside crumb nor on PATH; install both together")
        }
        return path
    }

    // MARK: - Secrets

    /// Writes the secrets to a pipe: others of the same user can read the environment of a process.
    ///
    /// - Returns: The end that is read. The other program inherits it.
    private static func handOver() throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.networkProgramNotFound, "making a pipe failed: \(SystemError.last.message)")
        }
        defer { close(ends[1]) }
        var room = pipeSize
        for variable in SecretVariable.allCases {
            guard let secret = variable.secret?.exposedBytes else { continue }
            let bytes = Array(variable.rawValue.utf8) + [0] + secret + [0]
            if bytes.count > room {
                // Back to where it came from.
                setenv(variable.rawValue, secret.map { CChar(bitPattern: $0) } + [0], 1)
            } else {
                try Console.write(bytes, to: ends[1])
                room -= bytes.count
            }
        }
        return ends[0]
    }

    private static func secrets(in descriptor: Int32) -> [SecretVariable: Secret] {
        defer { close(descriptor) }
        let bytes = (try? Descriptor(descriptor).readAll()) ?? []
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        return stride(from: 0, to: parts.count - 1, by: 2).reduce(into: [:]) { secrets, index in
            guard let variable = SecretVariable(rawValue: String(decoding: parts[index], as: UTF8.self)) else { return }
            secrets[variable] = Secret(Array(parts[index + 1]))
        }
    }
}
