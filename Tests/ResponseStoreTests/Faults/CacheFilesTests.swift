import Foundation
import HTTPCaching
import Platform
import StoreEngine
import TestSupport
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Files of a cache")
struct CacheFilesTests {
    private func sample(_ path: String = "/a") -> Sample {
        var sample = Sample()
        sample.url = "https://shop.example\(path)"
        sample.body = Sample.octets(20_000)
        return sample
    }

    @Test("Only the owner can read them")
    func permissions() throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(sample())
        let writer = try cache.begin(sample("/b"))
        writer?.append(Sample.octets(100_000))
        let names = FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []
        #expect(names.count > 5)
        for path in [home.path] + names.map({ "\(home.path)/\($0)" }) {
            #expect(FileSystem.permissions(path) == (FileSystem.isFolder(path) ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test("They show no URL, name, field or body")
    func secrets() throws {
        let home = CacheHome()
        let cache = home.cache()
        for length in [100, 20_000] {
            var sample = Sample()
            sample.url = "https://secret-host.example/secret-path?secret-query=\(length)"
            sample.requestFields = ["Cookie": "secret-cookie"]
            sample.fields = [
                "Cache-Control": "max-age=60", "X-Secret-Name": "secret-value", "Vary": "Cookie",
                "Cache-Groups": "\"secret-group\"",
            ]
            sample.body = Array(repeatElement(Array("secret-body".utf8), count: length / 10).joined())
            (sample.jar, sample.audience, sample.site) = ("secret-jar", "secret-audience", "secret-site")
            try cache.store(sample)
            #expect(try cache.candidates(for: sample).count == 1)
        }
        for name in FileManager.default.enumerator(atPath: home.path)?.compactMap({ $0 as? String }) ?? [] {
            let path = "\(home.path)/\(name)"
            guard !FileSystem.isFolder(path) else { continue }
            let contents = try Data(contentsOf: URL(filePath: path))
            for word in ["secret", "Secret", "max-age"] {
                #expect(contents.range(of: Data(word.utf8)) == nil, "\(name)")
            }
        }
    }

    @Test("The system may empty the folder at any time")
    func purged() throws {
        let home = CacheHome()
        let cache = home.cache()
        for _ in 0..<3 {
            try cache.store(sample())
            #expect(try cache.answer(sample()) == sample().body)
            try FileManager.default.removeItem(atPath: home.path)
            #expect(try cache.answer(sample()) == nil)
            #expect(try cache.store(sample("/b")) != nil || cache.store(sample("/b")) != nil)
            #expect(try cache.answer(sample("/b")) == sample("/b").body)
        }
    }

    @Test("Without a folder, every call is a miss, and nothing fails")
    func unusable() throws {
        let home = CacheHome()
        try Data().write(to: URL(filePath: home.path))
        let cache = home.cache()
        #expect(try cache.store(sample()) == nil)
        #expect(try cache.answer(sample()) == nil)
        try cache.invalidate(sample())
        cache.removeAll()
        cache.maintain(now: CacheHome.start)
        #expect(cache.all().isEmpty)
        #expect(cache.usage() == CacheUsage(entries: 0, size: 0))
        #expect(cache.lastFailure != nil)
    }

    @Test("If files cannot be created, the failure names the cause, and no response is expected to be stored")
    func unwritable() throws {
        let home = CacheHome()
        let cache = home.cache()
        #expect(try cache.store(sample()) != nil && cache.begin(sample())?.isExpected == true)
        try FileManager.default.removeItem(atPath: "\(home.path)/bodies")
        try Data().write(to: URL(filePath: "\(home.path)/bodies"))
        #expect(try cache.store(sample("/b")) == nil)
        #expect(
            cache.lastFailure?.description.contains("does not exist") == false,
            "\(String(describing: cache.lastFailure))")
        #expect(try cache.begin(sample("/c"))?.isExpected == false)

        let broken = CacheHome()
        try Data().write(to: URL(filePath: broken.path))
        #expect(try broken.cache().begin(sample())?.isExpected == false)
        let other = broken.cache()
        #expect(try other.store(sample()) == nil)
        #expect(other.lastFailure?.description.contains("nothing can be stored here: ") == true)
    }

    @Test("Files without a row are removed after an hour, and no others")
    func sweep() throws {
        let home = CacheHome()
        let cache = home.cache()
        for number in 0..<20 { try cache.store(sample("/\(number)")) }
        let kept = Set(home.bodyFiles)
        let orphans = try (0..<20).map { _ in
            let (number, descriptor) = try BodyFiles(in: home.path).create()
            descriptor.close()
            return number
        }
        let written = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        for _ in 0..<BodyFiles.shardCount { cache.maintain(now: written) }
        #expect(home.bodyFiles.count == kept.count + orphans.count)
        for _ in 0..<BodyFiles.shardCount { cache.maintain(now: written.advanced(bySeconds: 3700)) }
        #expect(Set(home.bodyFiles) == kept)
        #expect(cache.all().count == 20)
    }

    @Test(
        "On a full disk, clients notice nothing, and storing goes on when there is room",
        .enabled(if: SmallDisk.isAvailable, "mounting a small file system needs root"))
    func fullDisk() throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let home = CacheHome()
        let sealer = home.cache().keys.sealer
        var limits = CacheLimits()
        limits.fullDiskPause = 1
        let cache = ResponseCache(CacheFolder(disk.file("cache")), limits: limits) { sealer }
        let small = Sample()
        try cache.store(small)
        for number in 0..<10 { try cache.store(sample("/\(number)")) }
        try disk.fill(leaving: 100)
        var large = sample("/large")
        large.body = Sample.octets(3_000_000)
        #expect(try cache.store(large) == nil)
        for number in 0..<200 { try cache.store(sample("/more\(number)")) }
        // What is stored is whole.
        for number in 0..<200 {
            let answer = try cache.answer(sample("/more\(number)"))
            #expect(answer == nil || answer == sample().body)
        }
        disk.empty()
        var isStored = false
        for _ in 0..<150 where !isStored {
            isStored = try cache.store(sample("/after")) != nil
            if !isStored { Thread.sleep(forTimeInterval: 0.1) }
        }
        #expect(isStored)
        #expect(try cache.answer(sample("/after")) == sample().body)
    }
}
