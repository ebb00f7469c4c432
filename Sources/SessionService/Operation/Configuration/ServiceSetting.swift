import Configuration
import Logging

/// A setting of the service: its names in a file and in the environment, and its effect.
struct ServiceSetting: Sendable {
    /// The type of the value.
    enum Kind: Sendable {
        case text
        case texts
        case number(ClosedRange<Int>)
        case flag
    }

    /// Sets the value, or says why that cannot be.
    typealias Apply =
        @Sendable (inout ServiceConfiguration, ConfigReader, ServiceSetting) throws(ServiceStartError) -> Void

    /// The name, with a dot between the names of nested objects: `limits.idleSeconds`.
    let key: String
    let kind: Kind
    let apply: Apply

    /// The name in the environment: `CRUMB_LIMITS_IDLE_SECONDS`.
    var variable: String {
        key.reduce(into: "CRUMB_") { name, character in
            switch character {
            case ".": name += "_"
            case _ where character.isUppercase: name += "_\(character)"
            default: name += character.uppercased()
            }
        }
    }

    /// Every setting there is.
    static let all: [ServiceSetting] = [
        text("database") { $0.database = $1 },
        choice("durability", ["full": true, "normal": false]) { $0.isFullyDurable = $1 },
        text("socket") { $0.socket = $1 },
        addresses("listen"),
        texts("hosts") { $0.hosts = $1 },
        publicURL("public.url"),
        texts("public.proxies") { $0.proxies = $1 },
        text("tls.certificate") { $0.certificateFile = $1 },
        text("tls.privateKey") { $0.privateKeyFile = $1 },
        text("tokenFile") { $0.tokenFile = $1 },
        text("audit.file") { $0.auditFile = $1 },
        number("audit.summarySeconds", 1...3600) { $0.auditSummarySeconds = $1 },
        number("limits.connections", 1...1_000_000) { $0.limits.connections = $1 },
        number("limits.headerBytes", 1024...1 << 20) { $0.limits.headerBytes = $1 },
        number("limits.bodyBytes", 1024...1 << 40) { $0.limits.bodyBytes = $1 },
        number("limits.headerSeconds", 1...3600) { $0.limits.headerSeconds = $1 },
        number("limits.idleSeconds", 1...86_400) { $0.limits.idleSeconds = $1 },
        number("limits.bodyBytesPerSecond", 0...1 << 30) { $0.limits.bodyBytesPerSecond = $1 },
        number("limits.requestsPerSecond", 0...1_000_000) { $0.limits.requestsPerSecond = $1 },
        number("limits.requestBurst", 0...1_000_000) { $0.limits.requestBurst = $1 },
        number("limits.failedAttemptsPerMinute", 1...1_000_000) { $0.limits.failedAttemptsPerMinute = $1 },
        number("limits.shutdownSeconds", 1...3600) { $0.limits.shutdownSeconds = $1 },
        number("gateways.count", 0...1000) { $0.gateways.count = $1 },
        number("gateways.connections", 1...100_000) { $0.gateways.connections = $1 },
        number("gateways.bodyBytes", 0...1 << 40) { $0.gateways.bodyBytes = $1 },
        number("journal.entries", 100...1_000_000) { $0.journalEntries = $1 },
        number("housekeeping.pruneMinutes", 0...525_600) { $0.pruneMinutes = $1 },
        number("housekeeping.refreshAheadSeconds", 0...86_400) { $0.refreshAheadSeconds = $1 },
        number("refresh.timeoutSeconds", 1...3600) { $0.refreshTimeoutSeconds = $1 },
        text("proxy") { $0.proxy = $1 },
        text("proxyCredentialsFile") { $0.proxyCredentialsFile = $1 },
        text("caFile") { $0.authorityFile = $1 },
        flag("metrics.isPublic") { $0.publishesMetrics = $1 },
        choice("log.level", Dictionary(uniqueKeysWithValues: Logger.Level.allCases.map { ("\($0)", $0) })) {
            $0.logLevel = $1
        },
    ]

    // MARK: - Kinds

    private static func text(
        _ key: String, _ set: @escaping @Sendable (inout ServiceConfiguration, String) -> Void
    ) -> ServiceSetting {
        ServiceSetting(key: key, kind: .text) { configuration, reader, setting in
            if let value = reader.string(forKey: ConfigKey(setting.key)), !value.isEmpty { set(&configuration, value) }
        }
    }

    private static func texts(
        _ key: String, _ set: @escaping @Sendable (inout ServiceConfiguration, [String]) -> Void
    ) -> ServiceSetting {
        ServiceSetting(key: key, kind: .texts) { configuration, reader, setting in
            if let values = setting.values(reader) { set(&configuration, values) }
        }
    }

    private static func addresses(_ key: String) -> ServiceSetting {
        ServiceSetting(key: key, kind: .texts) { configuration, reader, setting throws(ServiceStartError) in
            guard let values = setting.values(reader) else { return }
            configuration.addresses = []
            for value in values {
                guard let address = TCPAddress(value) else {
                    throw ServiceStartError(
                        .configurationInvalid,
                        "\(key): '\(value)' is not an address; write HOST:PORT, [ADDRESS]:PORT or :PORT")
                }
                configuration.addresses.append(address)
            }
        }
    }

    private static func publicURL(_ key: String) -> ServiceSetting {
        ServiceSetting(key: key, kind: .text) { configuration, reader, setting throws(ServiceStartError) in
            guard let value = reader.string(forKey: ConfigKey(setting.key)), !value.isEmpty else { return }
            guard let url = PublicURL(value) else {
                // A password in it is not repeated.
                throw ServiceStartError(
                    .configurationInvalid,
                    "\(key): \(value.contains("@") ? "the URL" : "'\(value)'") cannot be used: write a URL such as "
                        + "https://crumb.example or https://www.example/crumb, without user name, query, fragment and "
                        + "dot segments, whose path does not begin like one of the service's own")
            }
            configuration.publicURL = url
        }
    }

    private static func number(
        _ key: String, _ range: ClosedRange<Int>, _ set: @escaping @Sendable (inout ServiceConfiguration, Int) -> Void
    ) -> ServiceSetting {
        ServiceSetting(key: key, kind: .number(range)) { configuration, reader, setting throws(ServiceStartError) in
            guard let value = reader.int(forKey: ConfigKey(key)) else {
                return try setting.expectNone(reader, "a number")
            }
            guard range.contains(value) else {
                throw ServiceStartError(
                    .configurationInvalid, "\(key): \(value) is not between \(range.lowerBound) and \(range.upperBound)"
                )
            }
            set(&configuration, value)
        }
    }

    private static func flag(
        _ key: String, _ set: @escaping @Sendable (inout ServiceConfiguration, Bool) -> Void
    ) -> ServiceSetting {
        ServiceSetting(key: key, kind: .flag) { configuration, reader, setting throws(ServiceStartError) in
            guard let value = reader.bool(forKey: ConfigKey(key)) else {
                return try setting.expectNone(reader, "true or false")
            }
            set(&configuration, value)
        }
    }

    private static func choice<Value: Sendable>(
        _ key: String, _ choices: [String: Value],
        _ set: @escaping @Sendable (inout ServiceConfiguration, Value) -> Void
    ) -> ServiceSetting {
        ServiceSetting(key: key, kind: .text) { configuration, reader, _ throws(ServiceStartError) in
            guard let value = reader.string(forKey: ConfigKey(key)), !value.isEmpty else { return }
            guard let choice = choices[value] else {
                throw ServiceStartError(
                    .configurationInvalid,
                    "\(key): '\(value)' is not one of \(choices.keys.sorted().joined(separator: ", "))")
            }
            set(&configuration, choice)
        }
    }

    private func values(_ reader: ConfigReader) -> [String]? {
        reader.stringArray(forKey: ConfigKey(key)).map { $0.filter { !$0.isEmpty } }
    }

    /// Where a value is no number and no flag, there must be none.
    private func expectNone(_ reader: ConfigReader, _ wanted: String) throws(ServiceStartError) {
        guard let text = reader.string(forKey: ConfigKey(key)), !text.isEmpty else { return }
        throw ServiceStartError(.configurationInvalid, "\(key): '\(text)' is not \(wanted)")
    }
}
