import Foundation
import OfflinePackages
import Synchronization
import TestSupport
import Testing
import WebPrimitives

@Suite("Download of a package from a server")
struct PackageDownloadTests {
    private typealias Answer = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    private let home = CrumbHome()

    /// A package whose script names the version, and which takes several reads.
    private func file(_ version: String) throws -> [UInt8] {
        var (builder, file) = (PackageBuilder(), [UInt8]())
        for (path, body) in [("app.js", "script \(version)"), ("long", String(repeating: version, count: 60_000))] {
            try builder.add(
                .init(url: try RequestURL("https://shop.example/\(path)"), fields: [], body: Array(body.utf8)))
        }
        _ = try builder.write(name: "shop", version: #require(PackageVersion(version)), signedBy: nil) { file += $0 }
        return file
    }

    /// A server that gives one answer after the other, and the last one to all further requests. Each connection stays open
    /// for a moment, so that what was sent has arrived when it ends.
    private func server(_ answers: Answer...) throws -> LoopbackServer {
        let rest = Mutex(answers)
        return try LoopbackServer(afterAnswer: { usleep(300_000) }) { request in
            let answer = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
            return answer?(request) ?? LoopbackServer.Response(500)
        }
    }

    private static func response(
        _ body: some Collection<UInt8>, tag: String?, status: Int = 200, range: String? = nil, missing: Int = 0
    ) -> LoopbackServer.Response {
        var response = LoopbackServer.Response(status, body: "")
        response.body = Array(body)
        response.missingByteCount = missing
        if let tag { response.fields.append(("ETag", Array(tag.utf8))) }
        if let range { response.fields.append(("Content-Range", Array("bytes \(range)".utf8))) }
        return response
    }

    /// The first half of a file, after which the connection ends.
    private static func half(_ file: [UInt8], tag: String?) -> Answer {
        { _ in response(file.prefix(file.count / 2), tag: tag, missing: file.count - file.count / 2) }
    }

    /// What a request with a Range field gets of a file; all of it if there is no such field, or if If-Range has another tag.
    private static func rest(_ file: [UInt8], tag: String, answeringWith answerTag: String? = nil) -> Answer {
        { request in
            let start = request.text("range").first.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            guard let start, request.text("if-range") == [tag] else { return response(file, tag: tag) }
            let range = "\(start)-\(file.count - 1)/\(file.count)"
            return response(file[start...], tag: answerTag ?? tag, status: 206, range: range)
        }
    }

    private func add(_ server: LoopbackServer, _ words: String...) throws -> RunResult {
        let url = "http://127.0.0.1:\(server.port)/shop.zip"
        return try home.start(["gateway", "package", "add", "--jar", "work", url] + words).wait()
    }

    /// The versions of the jar's packages, which are intact.
    private func versions() throws -> [String] {
        let listed = try home.crumb("gateway", "package", "list", "--jar", "work", "--json").objects()
        for package in listed {
            let name = try #require(package["name"] as? String)
            #expect(try home.crumb("gateway", "package", "verify", name, "--jar", "work").status == 0)
        }
        return listed.compactMap { $0["version"] as? String }
    }

    /// The parts that the next attempt would go on with.
    private func parts() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.file("crumb.sqlite.packages/downloads"))
    }

    @Test("A whole file is added, also after redirects, and nothing of the download stays")
    func whole() throws {
        let (first, second) = (try file("1.0.0"), try file("1.1.0"))
        let added = try add(server { _ in PackageDownloadTests.response(first, tag: nil) })
        #expect(added.status == 0 && added.messages.contains("added package 'shop' 1.0.0: 2 resources, "))
        let server = try server { request in
            request.target == "/new.zip"
                ? PackageDownloadTests.response(second, tag: "\"2\"")
                : LoopbackServer.Response(302, location: "/new.zip")
        }
        #expect(try add(server).status == 0)
        #expect(server.requests.map(\.target) == ["/shop.zip", "/new.zip"])
        #expect(server.requests.allSatisfy { $0.text("accept-encoding") == ["identity"] && $0.text("range").isEmpty })
        #expect(try versions() == ["1.1.0"] && parts().isEmpty)
    }

    @Test(
        "What breaks off stays, and the next attempt gets the rest of the same file, or all of another one",
        arguments: ["rest", "changed", "no ranges", "part of another file", "no part"])
    func brokenOff(second: String) throws {
        let (old, new) = (try file("1.0.0"), try file("1.1.0"))
        let begin = PackageDownloadTests.half(old, tag: "\"1\"")
        let server =
            switch second {
            case "rest": try server(begin, PackageDownloadTests.rest(old, tag: "\"1\""))
            case "changed": try server(begin, PackageDownloadTests.rest(new, tag: "\"2\""))
            case "no ranges": try server(begin, { _ in PackageDownloadTests.response(old, tag: "\"1\"") })
            case "part of another file":
                try server(begin, PackageDownloadTests.rest(new, tag: "\"1\"", answeringWith: "\"2\""))
            default:
                try server(begin, { _ in LoopbackServer.Response(416) }, PackageDownloadTests.rest(old, tag: "\"1\""))
            }
        let broken = try add(server)
        #expect(
            broken.status == 93 && broken.messages.contains("the same command goes on after them"), "\(broken.messages)"
        )
        #expect(try versions().isEmpty && parts().count == 2)
        let added = try add(server)
        #expect(added.status == 0, "\(added.messages)")
        let isNew = second == "changed" || second == "part of another file"
        #expect(try versions() == [isNew ? "1.1.0" : "1.0.0"] && parts().isEmpty)
        let asked = server.requests.dropFirst()
        let start = try #require(asked.first?.text("range").first?.dropFirst("bytes=".count).dropLast())
        #expect((1...(old.count / 2)).contains(Int(start) ?? 0) && asked.first?.text("if-range") == ["\"1\""])
        // What is of no use is dropped, and the whole file is requested.
        #expect(asked.count == (second.hasSuffix("file") || second == "no part" ? 2 : 1))
        #expect(asked.dropFirst().allSatisfy { $0.text("range").isEmpty && $0.text("if-range").isEmpty })
    }

    @Test("Without a strong entity tag, the next attempt begins again", arguments: [nil, "W/\"1\""])
    func noTag(tag: String?) throws {
        let file = try file("1.0.0")
        let server = try server(
            PackageDownloadTests.half(file, tag: tag), { _ in PackageDownloadTests.response(file, tag: tag) })
        let broken = try add(server)
        #expect(broken.status == 93 && broken.messages.contains("begins again"), "\(broken.messages)")
        #expect(try versions().isEmpty && parts().isEmpty)
        #expect(try add(server).status == 0)
        #expect(server.requests.allSatisfy { $0.text("range").isEmpty && $0.text("if-range").isEmpty })
        #expect(try versions() == ["1.0.0"] && parts().isEmpty)
    }

    @Test("What is no package, or cannot be had, changes nothing and leaves nothing")
    func refused() throws {
        let (first, second) = (try file("1.0.0"), try file("1.1.0"))
        #expect(try add(server { _ in PackageDownloadTests.response(first, tag: nil) }).status == 0)
        var damaged = second
        let place = try #require(damaged.firstRange(of: Array("script".utf8)))
        damaged[place.lowerBound] ^= 1
        let answers: [(Int32, String, Answer)] = [
            (93, "status 404", { _ in LoopbackServer.Response(404) }),
            (93, "status 500", { _ in LoopbackServer.Response(500) }),
            (93, "redirects too often", { _ in LoopbackServer.Response(302, location: "/shop.zip") }),
            (93, "no http or https URL", { _ in LoopbackServer.Response(302, location: "ftp://127.0.0.1/a") }),
            (93, "others can change the file", { _ in LoopbackServer.Response(302, location: "http://192.0.2.1/a") }),
            // More than a package may have.
            (
                93, "more than 1073741824",
                { _ in PackageDownloadTests.response(second, tag: "\"1\"", missing: 1 << 30) }
            ),
            // A portal's page.
            (90, "not a ZIP archive", { _ in LoopbackServer.Response(body: "<!doctype html>sign in") }),
            (90, "damaged", { [damaged] _ in PackageDownloadTests.response(damaged, tag: "\"1\"") }),
            (
                90, "digest of the manifest",
                { [other = try otherDigest()] _ in
                    PackageDownloadTests.response(other, tag: "\"1\"")
                }
            ),
            // A length that is smaller than the file.
            (90, "end is missing", { _ in PackageDownloadTests.response(second, tag: "\"1\"", missing: -30) }),
        ]
        for (status, reason, answer) in answers {
            let result = try add(server(answer))
            #expect(result.status == status && result.messages.contains(reason), "\(reason): \(result.messages)")
            #expect(status != 90 || result.messages.contains("/shop.zip: "), "\(reason): \(result.messages)")
            #expect(try versions() == ["1.0.0"] && parts().isEmpty, "\(reason)")
        }
        // Octets after the stated ones are those of another message.
        let longer = try server { _ in PackageDownloadTests.response(second + Array("more".utf8), tag: nil, missing: -4)
        }
        #expect(try add(longer).status == 0)
        #expect(try versions() == ["1.1.0"])
    }

    @Test("While a package is downloaded, there is no jar that another process could use, and none if it is refused")
    func noJar() throws {
        let jars = Mutex<[String]>([])
        let server = try server { [home] _ in
            let listed = try? home.crumb("jars", "list", "--json").text
            jars.withLock { $0.append(listed ?? "failed") }
            return LoopbackServer.Response(body: "no archive")
        }
        #expect(try add(server).status == 90)
        #expect(jars.withLock { $0 } == [""])
        #expect(try home.crumb("jars", "list", "--json").text.isEmpty)
    }

    /// A package with right checksums, one of whose bodies has another digest than the manifest says.
    private func otherDigest() throws -> [UInt8] {
        let digest = String(repeating: "0", count: 64)
        let manifest = """
            {"format": 1, "name": "shop", "version": "2.0.0", "base": "https://shop.example/", "resources":
            [{"url": "app.js", "file": "a", "length": 5, "sha256": "\(digest)"}]}
            """
        var (writer, file) = (ZipWriter(), [UInt8]())
        file += try writer.entry(PackageManifest.fileName, Array(manifest.utf8))
        file += try writer.entry("a", Array("hello".utf8))
        return file + writer.end()
    }
}
