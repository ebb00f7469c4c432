import Foundation
import TestSupport

/// Captures that real tools wrote, in the folder `shared/samples` beside the package; not everyone has it.
enum Samples {
    static let folder = Repository.shared.appending(path: "samples")

    static var exist: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: folder.appending(path: name)))
    }

    static func capture(_ name: String) throws -> Capture {
        Capture(bytes: try bytes(name), url: "https://app.example.test:8843/first")
    }

    static let hars = ["firefox-1.har", "mitm.har", "mitm8.har"]
    static let dumps = ["curl-i.txt", "curl-dump-header.txt", "httpie-headers.txt"]
    static let cookieFiles = [
        "curl-netscape.txt", "wget-cookies.txt", "wget-cookies-nosession.txt", "db/webkitgtk-2.50-cookies.txt",
    ]
    static let cookieLists = [
        "playwright-storageState.json", "chromium-cdp-storage-getCookies.json", "httpie-session.json",
    ]
    static let transcripts = ["curl-v.txt", "curl-trace-ascii.txt", "wget-S.txt"]
    static let all = hars + dumps + cookieFiles + cookieLists + transcripts + ["curl-header-json.json"]
}
