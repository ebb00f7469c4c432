internal import OAuth2

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ProfileSettings {
    /// The settings in the form that the database stores.
    func storedText() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Settings from the database; `nil` if they are damaged.
    init?(storedText text: String) {
        guard let settings = try? JSONDecoder().decode(ProfileSettings.self, from: Data(text.utf8)) else { return nil }
        self = settings
    }
}
