import ArgumentParser
import Captures
import Foundation

/// The browsers whose own databases are read.
enum Browser: String, ExpressibleByArgument, CaseIterable {
    case firefox
    case chromium
    case webkitgtk

    var format: CaptureFormat {
        switch self {
        case .firefox: .firefox
        case .chromium: .chromium
        case .webkitgtk: .webKitGTK
        }
    }

    /// The database in a profile's folder, or the browser's ordinary one.
    func database(profile: String?, environment: [String: String]) throws -> String {
        let home = environment["HOME"] ?? ""
        let configuration = environment["XDG_CONFIG_HOME"] ?? "\(home)/.config"
        let data = environment["XDG_DATA_HOME"] ?? "\(home)/.local/share"
        let folders: [String] =
            if let profile {
                [profile]
            } else {
                switch self {
                case .firefox: Browser.firefoxProfiles(home: home)
                case .chromium:
                    ["chromium", "google-chrome", "microsoft-edge"].map { "\(configuration)/\($0)/Default" }
                case .webkitgtk: ["\(data)/epiphany", "\(data)/webkitgtk"]
                }
            }
        let names =
            switch self {
            case .firefox: ["cookies.sqlite"]
            case .chromium: ["Cookies", "Network/Cookies", "Default/Cookies", "Default/Network/Cookies"]
            case .webkitgtk: ["cookies.sqlite", "cookies.txt"]
            }
        for folder in folders {
            for name in names where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
                return "\(folder)/\(name)"
            }
        }
        throw Problem(
            .inputNotFound,
            profile.map { "\($0): there are no cookies of \(rawValue) in this folder" }
                ?? "no profile of \(rawValue) was found; name its folder with --browser-profile")
    }

    /// The folders of Firefox's profiles, the one that it starts with first, as `profiles.ini` names them.
    private static func firefoxProfiles(home: String) -> [String] {
        let roots = [".mozilla/firefox", "snap/firefox/common/.mozilla/firefox", ".config/mozilla/firefox"]
        return roots.flatMap { root -> [String] in
            let folder = "\(home)/\(root)"
            guard let text = try? String(contentsOfFile: "\(folder)/profiles.ini", encoding: .utf8) else { return [] }
            func values(_ key: String) -> [String] {
                text.split(separator: "\n").filter { $0.hasPrefix("\(key)=") }.map {
                    String($0.dropFirst(key.count + 1))
                }
            }
            // An installation's own section says `Default=FOLDER`; a profile's says `Default=1`.
            let paths = values("Default").filter { $0 != "1" } + values("Path")
            return paths.map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
        }
    }
}
