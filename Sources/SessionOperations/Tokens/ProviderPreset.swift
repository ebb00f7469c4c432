import Captures
import OAuth2
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The settings of a provider that are known beforehand: data in `Providers.json`, the user's own file first.
package struct ProviderPreset: Decodable, Sendable {
    /// The issuer, with `{tenant}` and `{host}` to be filled in; `nil` if the provider has no metadata.
    package var issuer: String?
    /// Endpoints by the names of RFC 8414, for a provider without metadata.
    package var endpoints: [String: String]?
    /// The scopes that most want.
    package var scope: String?
    /// Further parameters of a login in a browser.
    package var parameters: [String: String]?

    /// Nothing is known.
    package init() {}

    /// The user's own presets: the name and content of a file.
    package struct File {
        package let name: String
        package let bytes: [UInt8]

        package init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Returns the preset of a name.
    ///
    /// - Parameters:
    ///   - file: presets by name, whose entries take precedence over the built-in ones.
    ///   - tenant: the value of `{tenant}`.
    ///   - host: the value of `{host}`.
    package static func named(
        _ name: String, file: File? = nil, tenant: String?, host: String?
    ) throws(OperationError) -> ProviderPreset {
        let values = ["tenant": tenant, "host": host].compactMapValues(\.self)
        var presets = try decode(PackageResources.Providers_json, "the built-in presets")
        if let file { presets.merge(try decode(file.bytes, file.name)) { $1 } }
        guard var preset = presets[name] else {
            throw invalid(
                "\(name): unknown provider; use one of \(presets.keys.sorted().joined(separator: ", "))")
        }
        if let issuer = preset.issuer { preset.issuer = try filled(issuer, name, values) }
        for (endpoint, url) in preset.endpoints ?? [:] {
            preset.endpoints?[endpoint] = try filled(url, name, values)
        }
        return preset
    }

    /// Whether a login is at a provider that has its own rules for consent: one that is named, or whose issuer is that of
    /// a built-in preset.
    package static func hasRules(for name: String?, issuer: String?) -> Bool {
        guard name == nil, let issuer else { return true }
        let presets = (try? decode(PackageResources.Providers_json, "the built-in presets")) ?? [:]
        return presets.values.contains { preset in
            let start = (preset.issuer ?? "").prefix { $0 != "{" }
            return start.count > "https://".count && issuer.hasPrefix(start)
        }
    }

    private static func decode(
        _ bytes: [UInt8], _ source: String
    ) throws(OperationError) -> [String: ProviderPreset] {
        do {
            try StrictJSON.check(bytes)
            return try JSONDecoder().decode([String: ProviderPreset].self, from: Data(bytes))
        } catch let fault as StrictJSON.Fault {
            throw invalid("\(source): \(fault)")
        } catch {
            throw invalid("\(source): this is not a JSON object of provider presets")
        }
    }

    private static func filled(
        _ text: String, _ name: String, _ values: [String: String]
    ) throws(OperationError) -> String {
        var text = text
        for (key, value) in values { text = text.replacing("{\(key)}", with: value) }
        if let open = text.firstIndex(of: "{") {
            let missing = text[open...].dropFirst().prefix { $0 != "}" }
            throw invalid("\(name): this provider requires --provider-\(missing)")
        }
        return text
    }

    private static func invalid(_ description: String) -> OperationError {
        OperationError(.tokenSettingsInvalid, description)
    }
}
