#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The containers of a profile of Firefox, as `containers.json` beside its database names them.
package struct FirefoxContainers: Sendable {
    /// The names of the containers that every profile has.
    private static let builtIn = [
        "user-context-personal": "Personal", "userContextPersonal.label": "Personal", "user-context-work": "Work",
        "userContextWork.label": "Work", "user-context-banking": "Banking", "userContextBanking.label": "Banking",
        "user-context-shopping": "Shopping", "userContextShopping.label": "Shopping",
    ]

    /// The number and the name of each, in the order of the file.
    package let all: [(number: Int, name: String)]

    /// The containers of the profile in a folder; none if it has no such file.
    package init(inFolder folder: String) {
        let file = FileManager.default.contents(atPath: "\(folder)/containers.json").flatMap {
            try? JSONDecoder().decode(File.self, from: $0)
        }
        all = (file?.identities ?? []).compactMap { identity in
            guard identity.public ?? true else { return nil }
            let name = identity.name ?? FirefoxContainers.builtIn[identity.l10nID ?? identity.l10nId ?? ""]
            return name.map { (identity.userContextId, $0) }
        }
    }

    /// The number of the container that a person means by its number or name, in any case; `none` is 0. `nil` if no
    /// container has that name.
    package func number(of text: String) -> Int? {
        if let number = Int(text) { return number >= 0 ? number : nil }
        if let found = all.first(where: { $0.name == text }) { return found.number }
        if let found = all.first(where: { $0.name.lowercased() == text.lowercased() }) { return found.number }
        return text.lowercased() == "none" ? 0 : nil
    }

    private struct File: Decodable {
        struct Identity: Decodable {
            let userContextId: Int
            let name: String?
            let l10nID: String?
            let l10nId: String?
            let `public`: Bool?
        }

        let identities: [Identity]?
    }
}
