internal import Platform
package import StoreEngine
internal import Synchronization

/// A counter of how often connections wait for an answer.
final class RoundTrips: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    func add() { number.wrappingAdd(1, ordering: .relaxed) }
}

/// What the connections to a database have learned about its servers, for later connections.
final class ServerMemory: Sendable {
    private let server = Atomic<Int>(0)
    private let number = Atomic<Int>(0)

    /// The position in the URL of the last known primary.
    var primary: Int {
        get { server.load(ordering: .relaxed) }
        set { server.store(newValue, ordering: .relaxed) }
    }

    /// Grows when existing connections may lead to a former primary, which may never answer.
    var epoch: Int { number.load(ordering: .relaxed) }

    func beginEpoch() { number.wrappingAdd(1, ordering: .relaxed) }
}

/// Where a database is, from a URL such as `postgresql://db1,db2/crumb?sslrootcert=ca.pem`, and how to connect to it.
///
/// The URL may have all settings of libpq except the password. That comes from a password file or a service file, as
/// for any client of PostgreSQL.
package struct PostgreSQLTarget: Sendable {
    /// The URL without user and settings, but with the ports that it or `PGPORT` names, for errors and logs.
    package let name: String
    /// How many seconds to wait for an answer before giving up.
    package private(set) var timeout: Double
    /// How many seconds to wait for the answer to a statement.
    private(set) var statementTimeout: Double
    /// Receives each warning of the server. Less important notices are dropped.
    package var warn: @Sendable (_ warning: String) -> Void = { _ in }
    /// The round trips of all connections that are made with this value.
    let roundTrips = RoundTrips()
    let servers = ServerMemory()
    /// The settings of libpq, for each server of the URL. libpq itself tries the next server only if one refuses the
    /// connection, and would wait for a silent one.
    private let settings: [[(keyword: String, value: String)]]

    /// Reads a URL.
    ///
    /// - Throws: ``SessionStoreError`` if the URL cannot be used, has a password in it, or would send data unprotected.
    package init(_ url: String, timeout: Double = 10) throws(SessionStoreError) {
        guard DatabasePlace.isServer(url) else {
            throw SessionStoreError(.databaseUnavailable, "the database's URL", "begin it with postgresql://")
        }
        let given = try SessionStoreError.catching("the database's URL") { try PostgreSQLTarget.parse(url) }
        guard let given else {
            throw SessionStoreError(
                .databaseUnavailable, "the database's URL",
                "it cannot be read; see the section \"Connection URIs\" of "
                    + "PostgreSQL's manual")
        }
        guard given["password"] == nil, given["sslpassword"] == nil else {
            throw SessionStoreError(
                .databaseUnavailable, "the database's URL",
                "a password in a URL is visible to others; put it in a password file (passfile=FILE) instead")
        }
        let hosts = (given["host"] ?? given["hostaddr"] ?? "").split(separator: ",").map(String.init)
        guard !hosts.isEmpty || given["service"] != nil else {
            throw SessionStoreError(
                .databaseUnavailable, "the database's URL", "name a host, host=FOLDER for a socket, or service=NAME")
        }
        let isLocal = !hosts.isEmpty && hosts.allSatisfy(PostgreSQLTarget.isLocal)
        if let mode = given["sslmode"], mode != "verify-full", !isLocal {
            throw SessionStoreError(
                .databaseUnavailable, "the database's URL",
                "sslmode=\(mode) does not verify the server; leave it out, or use sslmode=verify-full")
        }
        let defaults = [
            "application_name": "crumb", "client_encoding": "UTF8", "sslmode": isLocal ? "prefer" : "verify-full",
            "target_session_attrs": "read-write",
        ]
        let common = given.merging(defaults) { given, _ in given }
        settings = (0..<max(1, hosts.count)).map { index in
            common.map { keyword, value in
                let isList = ["host", "hostaddr", "port"].contains(keyword)
                return (keyword, isList ? PostgreSQLTarget.element(index, of: value) : value)
            }.sorted { $0.0 < $1.0 }
        }
        let ports = given["port"] ?? ProcessEnvironment.variables["PGPORT"]
        let places = PostgreSQLTarget.places(hosts, ports: ports)
        let place = hosts.isEmpty ? "service \(given["service"] ?? "")" : places.joined(separator: ",")
        name = "postgresql://\(place)/\(given["dbname"] ?? "")"
        self.timeout = timeout
        statementTimeout = timeout
    }

    /// The statements that each connection begins with.
    var sessionSettings: [String] {
        [
            "SET search_path = crumb",
            "SET lock_timeout = '\(Int(timeout * 1000))ms'",
            "SET idle_in_transaction_session_timeout = '60s'",
            // Statements find their rows by keys, whatever the values of their parameters. So one plan suffices.
            "SET plan_cache_mode = force_generic_plan",
            // The plan must not depend on tables that are small when the service starts.
            "SET enable_seqscan = off",
            // Statements are too short for compilation to pay.
            "SET jit = off",
            // A commit is acknowledged when the standbys, if any, have it, too.
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
            """,
        ]
    }

    /// The same database for connections that wait no longer than `seconds`.
    func waiting(atMost seconds: Double) -> PostgreSQLTarget {
        var target = self
        target.timeout = min(timeout, seconds)
        target.statementTimeout = target.timeout
        return target
    }

    /// The same database for statements that read a large database and may take up to a week. They do not wait longer
    /// than other statements for locks.
    func waitingForStatements() -> PostgreSQLTarget {
        var target = self
        target.statementTimeout = 7 * 24 * 3600
        return target
    }

    /// The positions of the servers in the URL, in the order of the attempts: the last known primary comes first.
    var order: [Int] {
        let first = servers.primary
        return settings.indices.map { (first + $0) % settings.count }
    }

    /// Calls `body` with the settings for a server as libpq takes them: keywords and values, each list ended by a null
    /// pointer.
    func withParameters(
        ofServer server: Int, _ body: (UnsafePointer<LibPQ.Text>, UnsafePointer<LibPQ.Text>) -> Void
    ) {
        var octets: [CChar] = []
        var places: [(Int, Int)] = []
        for (keyword, value) in settings[server] {
            let start = octets.count
            octets += keyword.utf8CString
            places.append((start, octets.count))
            octets += value.utf8CString
        }
        octets.withUnsafeBufferPointer { buffer in
            let start = buffer.baseAddress
            let keywords: [LibPQ.Text] = places.map { start?.advanced(by: $0.0) } + [nil]
            let values: [LibPQ.Text] = places.map { start?.advanced(by: $0.1) } + [nil]
            keywords.withUnsafeBufferPointer { keywords in
                values.withUnsafeBufferPointer { values in
                    if let keywords = keywords.baseAddress, let values = values.baseAddress { body(keywords, values) }
                }
            }
        }
    }

    /// Returns each host with its port, as a URL has them.
    ///
    /// - Parameter ports: One for each host, or one for all. An empty one is the default port.
    private static func places(_ hosts: [String], ports: String?) -> [String] {
        let ports = (ports ?? "").split(separator: ",", omittingEmptySubsequences: false)
        return hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            guard !port.isEmpty else { return host }
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// An element of a list in a setting. A list with one element applies to all servers.
    private static func element(_ index: Int, of list: String) -> String {
        let elements = list.split(separator: ",", omittingEmptySubsequences: false)
        return elements.indices.contains(index) ? String(elements[index]) : String(elements.last ?? "")
    }

    private static func isLocal(_ host: String) -> Bool {
        host.hasPrefix("/") || host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// The settings in a URL; `nil` if it has an error.
    private static func parse(_ url: String) throws -> [String: String]? {
        let library = try LibPQ.load()
        var message: LibPQ.MutableText = nil
        let first = library.parseSettings(url, &message)
        defer {
            library.freeSettings(first)
            // It may quote the URL, and a password in it.
            library.freeMemory(message)
        }
        guard var option = first?.assumingMemoryBound(to: LibPQ.Option.self) else { return nil }
        var settings: [String: String] = [:]
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.value { settings[String(cString: keyword)] = String(cString: value) }
            option = option.successor()
        }
        return settings
    }
}
