import TestSupport
import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Hashes in file names")
struct HashedFileNameTests {
    @Test(
        "Names as bundlers write them have a hash",
        arguments: [
            // webpack, Create React App
            "main.3f8a7c9b2d1e4f5a6b7c.js", "vendors~main.8e0d62a0.js", "2.1e2c4bd5.chunk.js",
            "runtime-main.d653cc00.js",
            "main.8e0d62a0.js.map", "logo.6ce24c58023cc2f8fd88fe9d219db6c6.svg", "main.8e0d62a0.min.css",
            // Vite, Rollup
            "index.4f3b2a1c.js", "index-D1wrgT4a.js", "vendor-B1a2C3d4.css", "index-CJqO-8bD.js", "logo-kQ3xY9Z_.png",
            // esbuild
            "chunk-5YB3HRJC.js", "main-WK7VZ2Q3.css",
            // Next
            "framework-2c79e2a64abdb08b.js", "_app-1f6f2a9c4f7b1234.js",
            "4473ecc91f70f139-s.p.woff",
            // Rails: Sprockets, Propshaft
            "application-908e25f4bf641868d8683022a5b62f54.css",
            "application-5f5b9bd2c5a1d7e7b0a1a4f6c9e3d2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5.js",
            "application-6a2c7d88.js",
            // Django
            "base.27e20196a850.css", "fonts/icons.55e7cbb9ba48.woff2",
            // Angular, Gatsby, Parcel, SvelteKit
            "main.7f8b1a2c3d4e5f6a.js", "app-1a2b3c4d5e6f7a8b9c0d.js", "index.ab12cd34.js", "start.B4xY2z3Q.js",
        ])
    func hashed(name: String) {
        #expect(HashedFileName.isHashed(Octets("/assets/" + name)))
    }

    @Test(
        "Names that only look like it have none",
        arguments: [
            // Versions, dates and numbers
            "jquery-3.7.1.min.js", "bootstrap.5.3.bundle.css", "app.js", "report-20240131.png",
            "IMG_20240131_123456.jpg",
            "photo-1234567890.jpg", "2024-11-21.png", "v2.js", "app-20240131ab.js",
            // Words that are hexadecimal, with and without numbers
            "deadbeef-cafe.js", "the-facade.css", "x-defaced1.css", "x-decade80.css", "x-2024beef.css", "a-feedface.js",
            "effaced.png",
            // Colours and short things
            "icon-ff00aa.png", "a.1b2c3d4.js", "x-1a2b3c4d5.js", "8e0d62a0.js", "27e20196a850.css",
            // Words with capitals and numbers
            "icon-WINDOWS7.png", "logo-STANDARD.png", "geometry-Vector3D.js", "x-MainPage.js", "x-Calendar.js",
            "x-iPhone15.png",
            "README.js", "x-ABCDEFG2.js",
            // Identifiers
            "550e8400-e29b-41d4-a716-446655440000.png", "user-550e8400-e29b-41d4-a716-446655440000.jpg",
            "550e8400e29b41d4a716446655440000.png", "user-550e8400e29b41d4a716446655440000.png",
            "507f1f77bcf86cd799439011.jpg", "item-507f1f77bcf86cd799439011.jpg",
            "205e460b479e2e5b48aec07710c08d50.jpg", "6b2e1e8d1f8e0f3c.css", "x-6b2e1e8d1f8e0f3c1a.css",
            // No static resources
            "main.8e0d62a0.html", "main.8e0d62a0", "2024-report.pdf", "main.8e0d62a0.json", "6b2e1e8d1f8e0f3c",
            ".8e0d62a0.js.txt",
            "main.8E0D62A0.js", "", ".js",
        ])
    func plain(name: String) {
        #expect(!HashedFileName.isHashed(Octets("/assets/" + name)))
        #expect(!HashedFileName.isHashed(Octets("/main.8e0d62a0/" + name)))
    }

    @Test(
        "A route with a UUID is none",
        arguments: ["/u/550e8400-e29b-41d4-a716-446655440000", "/a1b2c3d4e5f6a7b8/", "/"])
    func routes(path: String) {
        #expect(!HashedFileName.isHashed(Octets(path)))
    }

    @Test(
        "The share of random hashes that is recognized",
        arguments: [
            ("0123456789abcdef", 8, 0.88), ("0123456789abcdef", 12, 0.99), ("0123456789abcdef", 20, 0.999),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 8, 0.65),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 8, 0.55),
        ])
    func share(alphabet: String, count: Int, least: Double) {
        var random = SeededGenerator(seed: 1)
        let letters = Array(alphabet.utf8)
        let recognized = (0..<2000).filter { _ in
            let hash = String(decoding: (0..<count).map { _ in random.pick(letters) }, as: UTF8.self)
            return HashedFileName.isHashed(Octets("/app-\(hash).js"))
        }
        #expect(Double(recognized.count) / 2000 > least, "\(recognized.count)")
    }
}
