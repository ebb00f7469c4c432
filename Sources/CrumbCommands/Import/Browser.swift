import ArgumentParser
import Captures
import Platform
import SessionOperations

/// The browsers whose own databases are read, by the names that people use.
enum Browser: String, CaseIterable {
    case firefox
    case librewolf
    case zen
    case waterfox
    case chrome
    case chromeBeta = "chrome-beta"
    case chromium
    case edge
    case brave
    case vivaldi
    case opera
    case webkitgtk

    /// The format of its database.
    var format: CaptureFormat {
        switch self {
        case .firefox, .librewolf, .zen, .waterfox: .firefox
        case .chrome, .chromeBeta, .chromium, .edge, .brave, .vivaldi, .opera: .chromium
        case .webkitgtk: .webKitGTK
        }
    }

    /// The folders that hold its profiles, for a package of the system, a snap and a Flatpak.
    func folders(_ environment: [String: String]) -> [String] {
        let home = environment["HOME"] ?? ""
        func place(_ variable: String, _ usual: String) -> String {
            environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/\(usual)"
        }
        let configuration = place("XDG_CONFIG_HOME", ".config")
        func chromium(_ name: String, snap: String? = nil, flatpaks: [String] = []) -> [String] {
            ["\(configuration)/\(name)"] + (snap.map { ["\(home)/snap/\($0)"] } ?? [])
                + flatpaks.map { "\(home)/.var/app/\($0)/config/\(name)" }
        }
        func firefox(_ folder: String, _ name: String, flatpaks: [String]) -> [String] {
            ["\(home)/\(folder)", "\(configuration)/\(name)"]
                + flatpaks.flatMap { ["\(home)/.var/app/\($0)/\(folder)", "\(home)/.var/app/\($0)/config/\(name)"] }
        }
        return switch self {
        case .firefox:
            firefox(".mozilla/firefox", "mozilla/firefox", flatpaks: ["org.mozilla.firefox"])
                + ["\(home)/snap/firefox/common/.mozilla/firefox"]
        case .librewolf:
            firefox(".librewolf", "librewolf/librewolf", flatpaks: ["io.gitlab.librewolf-community"])
        case .zen: firefox(".zen", "zen", flatpaks: ["app.zen_browser.zen", "io.github.zen_browser.zen"])
        case .waterfox: firefox(".waterfox", "waterfox", flatpaks: ["net.waterfox.waterfox"])
        case .chrome: chromium("google-chrome", flatpaks: ["com.google.Chrome"])
        case .chromeBeta: chromium("google-chrome-beta", flatpaks: ["com.google.ChromeBeta"])
        case .chromium:
            chromium(
                "chromium", snap: "chromium/common/chromium",
                flatpaks: ["org.chromium.Chromium", "io.github.ungoogled_software.ungoogled_chromium"])
        case .edge: chromium("microsoft-edge", flatpaks: ["com.microsoft.Edge"])
        case .brave:
            chromium(
                "BraveSoftware/Brave-Browser", snap: "brave/current/.config/BraveSoftware/Brave-Browser",
                flatpaks: ["com.brave.Browser"])
        case .vivaldi:
            chromium("vivaldi", snap: "vivaldi/current/.config/vivaldi", flatpaks: ["com.vivaldi.Vivaldi"])
        case .opera: chromium("opera", snap: "opera/current/.config/opera", flatpaks: ["com.opera.Opera"])
        case .webkitgtk:
            [
                "\(place("XDG_DATA_HOME", ".local/share"))/epiphany",
                "\(place("XDG_DATA_HOME", ".local/share"))/webkitgtk",
                "\(home)/.var/app/org.gnome.Epiphany/data/epiphany",
            ]
        }
    }

    /// The applications that the entry in the desktop's keyring may name, the likeliest first.
    var keyringNames: [String] {
        switch self {
        case .chrome, .chromeBeta: ["chrome"]
        case .chromium: ["chromium"]
        case .edge: ["microsoft-edge", "chromium"]
        case .brave: ["brave", "chromium"]
        case .vivaldi: ["vivaldi", "chrome", "chromium"]
        case .opera: ["opera", "chromium"]
        case .firefox, .librewolf, .zen, .waterfox, .webkitgtk: []
        }
    }

    /// The names that the entry in KDE's wallet may begin with, the likeliest first.
    var walletNames: [String] {
        switch self {
        case .chrome, .chromeBeta: ["Chrome"]
        case .brave: ["Brave", "Chromium"]
        case .edge: ["Microsoft Edge", "Chromium"]
        case .vivaldi: ["Vivaldi", "Chrome", "Chromium"]
        case .chromium, .opera: ["Chromium"]
        case .firefox, .librewolf, .zen, .waterfox, .webkitgtk: []
        }
    }
}

/// A browser and, after a colon, one of its profiles: `firefox`, `chrome:Profile 1`.
struct BrowserChoice: ExpressibleByArgument {
    let browser: Browser
    let profile: String?

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let browser = Browser(rawValue: parts[0].lowercased()), parts.last != "" else { return nil }
        self.browser = browser
        profile = parts.count == 2 ? String(parts[1]) : nil
    }

    static let allValueStrings = Browser.allCases.map(\.rawValue)
}

/// The desktop's keyring, which holds the password that a browser of Chromium's kin encrypts under. It is asked through
/// the desktop's own programs; nothing secret is in their arguments.
struct DesktopKeyring: Sendable {
    private static let passwordLimit = 4096

    let browser: Browser
    let console: Console

    /// The password; `nil` if no keyring has it. Every failed attempt is named.
    func password() -> [UInt8]? {
        var attempts: [String] = []
        for name in browser.keyringNames {
            if let password = ask("secret-tool", ["lookup", "application", name], &attempts) { return password }
        }
        for name in browser.walletNames {
            let words = ["--read-password", "\(name) Safe Storage", "--folder", "\(name) Keys", "kdewallet"]
            if let password = ask("kwallet-query", words, &attempts) { return password }
        }
        console.note(
            "note: the keyring returned no password for \(browser.rawValue): \(attempts.joined(separator: "; "))")
        return nil
    }

    private func ask(_ program: String, _ words: [String], _ attempts: inout [String]) -> [UInt8]? {
        guard let path = ChildProcess.pathOfProgram(program) else {
            let finding = "\(program) is not on PATH"
            if attempts.last != finding { attempts.append(finding) }
            return nil
        }
        let answer = Answer()
        do {
            var process = ChildProcess(program: path, failure: .browserUnreadable)
            try process.capture(STDOUT_FILENO) { answer.bytes += $0 }
            try process.capture(STDERR_FILENO) { _ in }
            try process.setStandardInput(contents: [])
            let status = try process.run(words.map { Array($0.utf8) })
            var password = answer.bytes
            while password.last.map(InputFile.isWhiteSpace) == true { password.removeLast() }
            // kwallet-query reports some failures as output.
            let isPassword = !password.isEmpty && !password.starts(with: "Failed to ".utf8)
            if status == 0, isPassword, password.count <= DesktopKeyring.passwordLimit { return password }
            attempts.append("\(program) has none for \(words[program == "secret-tool" ? 2 : 1])")
        } catch {
            attempts.append((error as? CommandFailure)?.message ?? "\(program) cannot be started")
        }
        return nil
    }

    private final class Answer {
        var bytes: [UInt8] = []
    }
}
