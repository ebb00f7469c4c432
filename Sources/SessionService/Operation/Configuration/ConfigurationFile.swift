import Configuration
import Platform
import SessionStore
import WebPrimitives

/// The settings in a JSON file.
struct ConfigurationFile {
    /// The most bytes that are read. Even with an element in every second byte, this is a value that `JSONDocument` keeps
    /// whole.
    private static let sizeLimit = 1 << 18

    private let path: String
    private(set) var values: [AbsoluteConfigKey: ConfigValue] = [:]

    /// Reads a file.
    ///
    /// - Throws: an error that names an unknown or invalid setting: a setting with a misspelled name would have no
    ///   effect.
    init(_ path: String) throws(ServiceStartError) {
        self.path = path
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.contents(path, limit: ConfigurationFile.sizeLimit + 1)
        } catch {
            throw ServiceStartError(.fileUnusable, "\(path): the file cannot be read: \(error.message)")
        }
        guard bytes.count <= ConfigurationFile.sizeLimit else {
            throw ServiceStartError(
                .configurationInvalid, "\(path): the file is larger than \(ConfigurationFile.sizeLimit) bytes")
        }
        do throws(StrictJSON.Fault) {
            try StrictJSON.check(bytes)
        } catch {
            throw ServiceStartError(.configurationInvalid, "\(path): \(error)")
        }
        guard case .object(let object) = JSONDocument(bytes) else {
            throw ServiceStartError(.configurationInvalid, "\(path): this is not a JSON object")
        }
        try read(object, under: "")
    }

    private mutating func read(_ object: JSONObject, under prefix: String) throws(ServiceStartError) {
        for (name, value) in zip(object.names, object.values) {
            let key = prefix + String(decoding: name, as: UTF8.self)
            if let setting = ServiceSetting.all.first(where: { $0.key == key }) {
                guard let content = ConfigurationFile.content(value, setting.kind) else {
                    throw ServiceStartError(
                        .configurationInvalid, "\(path): '\(key)' should be \(setting.kind.description)")
                }
                // A path would end there.
                guard !value.texts.contains(where: { $0.utf8.contains(0) }) else {
                    throw ServiceStartError(.configurationInvalid, "\(path): '\(key)' contains U+0000")
                }
                let old = values.updateValue(
                    ConfigValue(content, isSecret: false), forKey: AbsoluteConfigKey(ConfigKey(key)))
                // A name with dots and nested objects can name the same setting.
                guard old == nil else {
                    throw ServiceStartError(
                        .configurationInvalid, "\(path): '\(key)' is set twice; remove one of the two")
                }
            } else if let inner = value.object,
                ServiceSetting.all.contains(where: { $0.key.hasPrefix(key + ".") })
            {
                try read(inner, under: key + ".")
            } else {
                throw ServiceStartError(.configurationInvalid, "\(path): unknown setting '\(key)'")
            }
        }
    }

    private static func content(_ value: JSONValue, _ kind: ServiceSetting.Kind) -> ConfigContent? {
        switch kind {
        case .text: return value.text.map { .string($0) }
        case .texts:
            guard let elements = value.elements else { return nil }
            let texts = elements.compactMap(\.text)
            return texts.count == elements.count ? .stringArray(texts) : nil
        case .flag: return value.boolean.map { .bool($0) }
        case .number: return value.integer.map { .int($0) }
        }
    }
}

extension ServiceSetting.Kind {
    /// The expected value, for people.
    fileprivate var description: String {
        switch self {
        case .text: "a string"
        case .texts: "a list of strings"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        }
    }
}
