import Foundation
import TestSupport
import Testing

/// The adapter for Apple's window is only compiled where there is one. Here it is checked against the declarations that
/// it uses.
@Suite("The window for logins", .enabled(if: Compiler.path != nil, "swiftc is not on the PATH"))
struct WebAuthenticationTests {
    @Test("It fits the declarations of AuthenticationServices")
    func typeChecks() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-window-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let name = "AuthenticationServices"
        let interface = Repository.root.appending(path: "Tests/URLSessionDecorationTests/WebKitInterface/\(name).swift")
            .path
        try Compiler.run([
            "-emit-module", "-module-name", name, "-swift-version", "6",
            "-o", folder.appending(path: "\(name).swiftmodule").path, interface,
        ])
        let features = [
            "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
            "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        ]
        let adapter = Repository.root.appending(path: "Sources/URLSessionDecoration/WebAuthenticationBrowser.swift")
            .path
        try Compiler.run(
            ["-typecheck", "-module-name", "URLSessionDecoration", "-swift-version", "6"]
                + features.flatMap { ["-enable-upcoming-feature", $0] } + ["-I", folder.path, adapter])
    }
}
