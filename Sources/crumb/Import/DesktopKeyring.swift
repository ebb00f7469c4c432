import Foundation
import SessionOperations

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
            "note: the keyring gave no password of \(browser.rawValue): \(attempts.joined(separator: "; "))")
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
            attempts.append("\(program) cannot be started")
        }
        return nil
    }

    private final class Answer {
        var bytes: [UInt8] = []
    }
}
