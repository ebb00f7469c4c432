import Captures
import Configuration
import Foundation
import Platform
import SessionStore
import WebPrimitives

/// The settings in a JSON file.
struct ConfigurationFile {
    private static let sizeLimit = 1 << 20

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
            bytes = try FileSystem.contents(path, limit: ConfigurationFile.sizeLimit)
        } catch {
            throw ServiceStartError(.fileUnusable, "\(path): the file cannot be read: \(error.message)")
        }
        do throws(StrictJSON.Fault) {
            try StrictJSON.check(bytes)
        } catch {
            throw ServiceStartError(.configurationInvalid, "\(path): \(error)")
        }
        guard let object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] else {
            throw ServiceStartError(.configurationInvalid, "\(path): this is not a JSON object")
        }
        try read(object, under: "")
    }

    private mutating func read(_ object: [String: Any], under prefix: String) throws(ServiceStartError) {
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            let key = prefix + name
            if let setting = ServiceSetting.all.first(where: { $0.key == key }) {
                guard let content = ConfigurationFile.content(value, setting.kind) else {
                    throw ServiceStartError(
                        .configurationInvalid, "\(path): '\(key)' should be \(setting.kind.description)")
                }
                values[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(content, isSecret: false)
            } else if let inner = value as? [String: Any],
                ServiceSetting.all.contains(where: { $0.key.hasPrefix(key + ".") })
            {
                try read(inner, under: key + ".")
            } else {
                throw ServiceStartError(.configurationInvalid, "\(path): unknown setting '\(key)'")
            }
        }
    }

    private static func content(_ value: Any, _ kind: ServiceSetting.Kind) -> ConfigContent? {
        switch kind {
        case .text: return (value as? String).map { .string($0) }
        case .texts: return (value as? [String]).map { .stringArray($0) }
        case .flag: return isFlag(value) ? (value as? Bool).map { .bool($0) } : nil
        case .number: return isFlag(value) ? nil : (value as? Int).map { .int($0) }
        }
    }

    /// Whether a value is `true` or `false`, which Foundation accepts as 1 and 0.
    private static func isFlag(_ value: Any) -> Bool {
        guard let number = value as? NSNumber else { return false }
        return String(cString: number.objCType) == "c"
    }
}

extension ServiceSetting.Kind {
    /// The expected value, for people.
    fileprivate var description: String {
        switch self {
        case .text: "a string"
        case .texts: "a list of strings"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        }
    }
}
