import Captures
import Platform
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A profile of a browser on this computer.
struct BrowserProfile {
    /// The folder of the profile.
    let folder: String
    /// The user's name for it, and its other names.
    var names: [String] = []

    /// The name of the folder, with the user's name for the profile.
    var title: String {
        let name = FileSystem.name(of: folder)
        return names.first.flatMap { $0 == name ? nil : "\(name) (\($0))" } ?? name
    }

    /// The database of cookies, if there is one.
    func database(of browser: Browser) -> String? {
        let names =
            switch browser.format {
            case .firefox: ["cookies.sqlite"]
            case .chromium: ["Cookies", "Network/Cookies", "Default/Cookies", "Default/Network/Cookies"]
            default: ["cookies.sqlite", "cookies.txt"]
            }
        return names.map { "\(folder)/\($0)" }.first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The file with the cookies of the session, which Firefox writes while it runs.
    func sessionStore(of browser: Browser) -> String? {
        let path = "\(folder)/sessionstore-backups/recovery.jsonlz4"
        return browser.format == .firefox && FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// A note on cookies that the browser has not written to its files yet.
    func unwritten(by browser: Browser) -> String? {
        switch browser.format {
        case .firefox:
            guard sessionStore(of: browser) == nil else { return nil }
            return "\(browser.rawValue) is not running, and keeps session cookies only while it runs"
        case .chromium:
            // A link that leads nowhere, in the folder of all profiles.
            let folders = [folder, InputFile.folder(of: folder)]
            let isRunning = folders.contains {
                (try? FileManager.default.attributesOfItem(atPath: "\($0)/SingletonLock")) != nil
            }
            guard isRunning else { return nil }
            return
                "\(browser.rawValue) is running, and writes its cookies every 30 seconds: if you have just signed in, "
                + "wait, and import again"
        default: return nil
        }
    }

    /// Whether `name` means this profile.
    fileprivate func isNamed(_ name: String, ignoringCase: Bool) -> Bool {
        ([FileSystem.name(of: folder)] + names).contains { mine in
            ignoringCase ? mine.lowercased() == name.lowercased() : mine == name
        }
    }
}

/// The profiles of a browser.
struct BrowserProfiles {
    private let browser: Browser
    private let folders: [String]
    /// The profiles that have cookies, the default profile first.
    let all: [BrowserProfile]

    init(of browser: Browser, environment: [String: String]) {
        self.browser = browser
        folders = browser.folders(environment)
        all = folders.flatMap { folder in
            switch browser.format {
            case .firefox: BrowserProfiles.firefox(folder)
            case .chromium: BrowserProfiles.chromium(folder)
            default: [BrowserProfile(folder: folder)]
            }
        }.filter { $0.database(of: browser) != nil }
    }

    /// Returns the profile to read.
    ///
    /// - Parameter name: the user's name for it, its folder's name or its folder; `nil` for the one that the browser
    ///   starts with.
    func profile(named name: String?) throws -> BrowserProfile {
        guard let name else {
            if let first = all.first { return first }
            throw CommandFailure(
                .inputNotFound,
                "no profile of \(browser.rawValue) was found in \(folders.joined(separator: ", ")); "
                    + "name its folder with --profile")
        }
        if name.contains("/") { return try profile(in: name) }
        for ignoringCase in [false, true] {
            let found = all.filter { $0.isNamed(name, ignoringCase: ignoringCase) }
            if found.count > 1 {
                let places = found.map(\.folder).joined(separator: ", ")
                throw CommandFailure(
                    .inputNotFound,
                    "\(browser.rawValue) has \(found.count) profiles '\(name)': name one by its folder: \(places)")
            }
            if let only = found.first { return only }
        }
        if FileManager.default.fileExists(atPath: name) { return try profile(in: name) }
        let others = all.isEmpty ? "it has none with cookies" : "profiles: \(all.map(\.title).joined(separator: ", "))"
        throw CommandFailure(
            .inputNotFound,
            "\(browser.rawValue) has no profile '\(name)'; \(others); looked in \(folders.joined(separator: ", "))")
    }

    private func profile(in folder: String) throws -> BrowserProfile {
        let profile = BrowserProfile(folder: folder)
        guard profile.database(of: browser) != nil else {
            throw CommandFailure(.inputNotFound, "\(folder): this folder contains no cookies of \(browser.rawValue)")
        }
        return profile
    }

    /// Firefox's profiles, as `profiles.ini` names them: those that installations start with, the default one, the
    /// others.
    private static func firefox(_ root: String) -> [BrowserProfile] {
        guard let text = try? String(contentsOfFile: "\(root)/profiles.ini", encoding: .utf8) else { return [] }
        var sections: [(title: Substring, values: [Substring: String])] = []
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                sections.append((line, [:]))
            } else if let equals = line.firstIndex(of: "="), let last = sections.indices.last {
                sections[last].values[line[..<equals]] = String(line[line.index(after: equals)...])
            }
        }
        var profiles: [(rank: Int, path: String, name: String?)] = []
        for section in sections {
            if section.title.hasPrefix("[Install"), let path = section.values["Default"] {
                profiles.append((0, path, nil))
            } else if section.title.hasPrefix("[Profile"), let path = section.values["Path"] {
                profiles.append((section.values["Default"] == "1" ? 1 : 2, path, section.values["Name"]))
            }
        }
        var found: [BrowserProfile] = []
        for profile in profiles.sorted(by: { $0.rank < $1.rank }) {
            let folder = profile.path.hasPrefix("/") ? profile.path : "\(root)/\(profile.path)"
            let name = profile.name ?? profiles.first { $0.path == profile.path && $0.name != nil }?.name
            guard !found.contains(where: { $0.folder == folder }) else { continue }
            found.append(BrowserProfile(folder: folder, names: [name].compactMap(\.self)))
        }
        return found
    }

    /// Chromium's profiles: the last used one according to `Local State`, `Default`, and the others.
    private static func chromium(_ root: String) -> [BrowserProfile] {
        let state = FileManager.default.contents(atPath: "\(root)/Local State").flatMap {
            try? JSONDecoder().decode(LocalState.self, from: $0)
        }
        let known = state?.profile?.info_cache ?? [:]
        let folders = [state?.profile?.last_used, "Default"].compactMap(\.self) + known.keys.sorted()
        var found: [BrowserProfile] = []
        for folder in folders where !folder.contains("/") && !folder.isEmpty && folder != ".." {
            guard !found.contains(where: { $0.folder == "\(root)/\(folder)" }) else { continue }
            let names = [known[folder]?.name, known[folder]?.user_name].compactMap(\.self).filter { !$0.isEmpty }
            found.append(BrowserProfile(folder: "\(root)/\(folder)", names: names))
        }
        // Opera has one profile, which is the folder itself.
        let isOwnProfile = ["Cookies", "Network/Cookies"].contains {
            FileManager.default.fileExists(atPath: "\(root)/\($0)")
        }
        return found + (isOwnProfile ? [BrowserProfile(folder: root)] : [])
    }

    /// The parts of Chromium's `Local State` that are read.
    private struct LocalState: Decodable {
        struct Profiles: Decodable {
            let last_used: String?
            let info_cache: [String: Info]?
        }

        struct Info: Decodable {
            let name: String?
            let user_name: String?
        }

        let profile: Profiles?
    }
}
