import Configuration

extension ServiceConfiguration {
    /// Reads a configuration: what the command line says counts before the environment, and that before the file.
    ///
    /// - Parameters:
    ///   - arguments: what the command line says, by the keys that the file has; several values for a list.
    ///   - environment: variables, of which those that begin with `CRUMB_` are looked at.
    ///   - file: a JSON file; everything in it must be known.
    /// - Throws: an error that names the setting that cannot be.
    public init(
        arguments: [String: [String]] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws(ServiceStartError) {
        self.init()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: ServiceConfiguration.values(arguments)),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "crumb"),
        ]
        if let file { providers.append(InMemoryProvider(name: file, values: try ConfigurationFile(file).values)) }
        let reader = ConfigReader(providers: providers)
        for setting in ServiceSetting.all { try setting.apply(&self, reader, setting) }
    }

    private static func values(_ arguments: [String: [String]]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in ServiceSetting.all {
            guard let given = arguments[setting.key], let first = given.first else { continue }
            let content: ConfigContent = if case .texts = setting.kind { .stringArray(given) } else { .string(first) }
            values[AbsoluteConfigKey(ConfigKey(setting.key))] = ConfigValue(content, isSecret: false)
        }
        return values
    }
}
