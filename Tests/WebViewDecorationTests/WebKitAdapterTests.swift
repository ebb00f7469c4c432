import Foundation
import TestSupport
import Testing

/// The adapter for WebKit is only compiled where there is a WebKit. Here it is checked against the declarations that it
/// uses, so that no change to the rest breaks it unseen.
@Suite("The WebKit adapter", .enabled(if: Compiler.path != nil, "swiftc is not on the PATH"))
struct WebKitAdapterTests {
    private static let tests = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()

    @Test("It fits WebKit's declarations, and the tutorial's app fits the adapter")
    func typeChecks() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-webkit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["Network", "Security", "WebKit"] {
            let interface = WebKitAdapterTests.tests.appending(path: "WebKitInterface/\(name).swift").path
            let module = folder.appending(path: "\(name).swiftmodule").path
            try Compiler.run([
                "-emit-module", "-module-name", name, "-swift-version", "6", "-I", folder.path, "-o", module, interface,
            ])
        }
        let sources = WebKitAdapterTests.tests.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/WebViewDecoration")
        let files = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
            .filter { $0.hasSuffix(".swift") }.map { sources.appending(path: $0).path }
        #expect(files.count > 3)
        let modules = try #require(Compiler.modules)
        // What the other modules of this build are made of is asked for too.
        let checkouts = URL(filePath: modules).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "checkouts")
        var maps = [
            sources.deletingLastPathComponent().appending(path: "CSQLite/module.modulemap").path
        ]
        let crypto = checkouts.appending(path: "swift-crypto/Sources")
        maps += try FileManager.default.contentsOfDirectory(atPath: crypto.path).map {
            crypto.appending(path: "\($0)/include/module.modulemap").path
        }
        maps = maps.filter { FileManager.default.fileExists(atPath: $0) }
        let features = [
            "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
            "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        ]
        // SwiftPM names the package after its folder.
        let package = Repository.root.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
        let search = ["-I", folder.path, "-I", modules] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        try Compiler.run(
            [
                "-emit-module", "-module-name", "WebViewDecoration", "-swift-version", "6",
                "-o", folder.appending(path: "WebViewDecoration.swiftmodule").path, "-package-name", String(package),
            ]
                + features.flatMap { ["-enable-upcoming-feature", $0] } + search + files)
        for step in 1...4 {
            let file = Repository.root.appending(path: "docs/Crumb.docc/Code/WebView-\(step).swift").path
            try Compiler.run(["-typecheck", "-swift-version", "6", "-warnings-as-errors"] + search + [file])
        }
    }
}
