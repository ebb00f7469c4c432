import Foundation
import OAuth2

/// What is known of a provider beforehand: data in `Providers.json`, the user's own file first.
struct ProviderPreset: Decodable {
    /// The issuer, with `{tenant}` and `{host}` to be filled in; `nil` where the provider has no metadata.
    var issuer: String?
    /// Endpoints by the names of RFC 8414, for a provider without metadata.
    var endpoints: [String: String]?
    /// The scopes that most want.
    var scope: String?
    /// Further parameters of a login in a browser.
    var parameters: [String: String]?

    /// The preset of that name.
    ///
    /// - Parameters:
    ///   - file: a file of presets by name, whose entries count before the built-in ones.
    ///   - values: what stands in the place of `{tenant}` and its like.
    static func named(_ name: String, file: String?, values: [String: String]) throws -> ProviderPreset {
        var presets = try decode(PackageResources.Providers_json, "the built-in presets")
        if let file {
            presets.merge(try decode(try InputFile(file).contents(limit: 1 << 20), file)) { $1 }
        }
        guard var preset = presets[name] else {
            throw Problem(
                .tokenSettingsInvalid,
                "\(name): there is no such provider; there are \(presets.keys.sorted().joined(separator: ", "))")
        }
        preset.issuer = try preset.issuer.map { try filled($0, name, values) }
        preset.endpoints = try preset.endpoints?.mapValues { try filled($0, name, values) }
        return preset
    }

    private static func decode(_ bytes: [UInt8], _ source: String) throws -> [String: ProviderPreset] {
        do {
            return try JSONDecoder().decode([String: ProviderPreset].self, from: Data(bytes))
        } catch {
            throw Problem(.tokenSettingsInvalid, "\(source): this is no JSON object of provider presets")
        }
    }

    private static func filled(_ text: String, _ name: String, _ values: [String: String]) throws -> String {
        var text = text
        for (key, value) in values { text = text.replacingOccurrences(of: "{\(key)}", with: value) }
        if let open = text.firstIndex(of: "{") {
            let missing = text[open...].dropFirst().prefix { $0 != "}" }
            throw Problem(.tokenSettingsInvalid, "\(name): this provider needs --provider-\(missing)")
        }
        return text
    }
}
