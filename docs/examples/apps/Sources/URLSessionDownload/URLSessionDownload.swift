// 1b: a download to a file, through a redirect that sets a cookie.
import AppSupport
import URLSessionDecoration

@main
struct URLSessionDownload {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let session = DecoratedURLSession(jar: try await database.jar())
        _ = try await session.data(for: Server.form("/login", "user=ada"))
        let photo = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * $0) })
        _ = try await session.upload(for: Server.form("/file", ""), from: photo)

        let (file, _) = try await session.download(from: Server.url("/download"))
        let saved = URL(filePath: "photo")
        try? FileManager.default.removeItem(at: saved)
        try FileManager.default.moveItem(at: file, to: saved)
        expect(try Data(contentsOf: saved), photo, "the file is whole")
        let (cookies, _) = try await session.data(from: Server.url("/cookies"))
        expect(cookies.text, "downloaded sid tab theme", "the jar has the cookie of the redirect")
    }
}
