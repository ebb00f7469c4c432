import Foundation
import SQLiteEngine
import StoreEngine
import Testing

@testable import ResponseStore

@Suite("Caches of other versions of the program")
struct VersionTests {
    private func sample(_ length: Int) -> Sample {
        var sample = Sample()
        sample.body = Sample.octets(length)
        return sample
    }

    /// Replaces the index by one of another version, which has other tables.
    private func replaceIndex(_ home: CacheHome, version: Int) throws -> Data {
        DatabaseFile.remove(home.folder.index)
        let schema = """
            CREATE TABLE answer (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT;
            INSERT INTO answer VALUES (1, x'01');
            PRAGMA user_version = \(version);
            """
        do {
            let other = try SQLiteDatabase(expendable: home.folder.index, schema: schema, busyTimeout: 3600)
            _ = try other.emptyLog()
        }
        return try Data(contentsOf: URL(filePath: home.folder.index))
    }

    @Test(
        "A newer cache answers nothing and stays as it is, for a process that begins and for one that had an older one")
    func newer() throws {
        let home = CacheHome()
        let open = home.cache()
        // One body is in the index, one has a file.
        for length in [100, 200_000] { try open.store(sample(length)) }
        let files = home.bodyFiles
        #expect(files.count == 1)
        let index = try replaceIndex(home, version: CacheFolder.version + 1)
        for cache in [open, home.cache()] {
            #expect(try cache.answer(sample(100)) == nil)
            for length in [100, 200_000] { #expect(try cache.store(sample(length)) == nil) }
            try cache.invalidate(sample(100))
            cache.maintain(now: CacheHome.start)
            cache.removeResponses(ofJar: sample(100).jar)
            cache.removeAll()
            #expect(cache.all().isEmpty && cache.usage() == CacheUsage(entries: 0, size: 0))
            #expect(cache.lastFailure?.code == .databaseNewer)
            #expect(throws: SessionStoreError.self) { try cache.finishRemovals() }
        }
        #expect(home.bodyFiles == files)
        #expect(try Data(contentsOf: URL(filePath: home.folder.index)) == index)
        let newer = try SQLiteDatabase(expendable: home.folder.index, schema: "", busyTimeout: 3600)
        #expect(try newer.read { try $0.rows("SELECT count(*) FROM answer") { $0.int64(0) } } == [1])
    }

    @Test("A new cache takes the place of an older one")
    func older() throws {
        let home = CacheHome()
        try home.cache().store(sample(100))
        _ = try replaceIndex(home, version: 1)
        let cache = home.cache()
        // Nothing is opened for a second after the older one was found.
        var isStored = false
        for _ in 0..<30 where !isStored {
            isStored = try cache.store(sample(100)) != nil && cache.answer(sample(100)) == sample(100).body
            if !isStored { Thread.sleep(forTimeInterval: 0.1) }
        }
        #expect(isStored, "\(String(describing: cache.lastFailure))")
    }

    @Test("A cache that was made before versions were noted in it is used")
    func unmarked() throws {
        let home = CacheHome()
        do {
            let cache = home.cache()
            try cache.store(sample(100))
            #expect(
                cache.readAll { try $0.rows("PRAGMA user_version") { $0.int64(0) } } == [Int64(CacheFolder.version)])
            _ = cache.write { try $0.connection.run("PRAGMA user_version = 0") }
        }
        #expect(try home.cache().answer(sample(100)) == sample(100).body)
    }
}
