import CookieModel
import DriverSupport
import Glibc
import PublicSuffix
import SessionStore

extension SessionDatabase {
    /// Opens the database with a workload's jar in it, sealed under the workload's key.
    convenience init(_ workload: Workload) throws {
        try workload.makeDatabaseUnlessThere()
        try self.init(path: workload.database, keys: .file(workload.key), now: .present)
    }
}

extension Workload {
    /// How many lines one transaction takes: the log beside the database is about as long as what it changes.
    private static let batch = 50_000

    /// Makes ``database`` and ``firstRequests``, which several subjects and peers read.
    func makeDatabaseUnlessThere() throws {
        guard access(database, F_OK) != 0 || access(firstRequests.path, F_OK) != 0 else { return }
        let part = "\(database).part"
        for suffix in ["", "-wal", "-shm"] { unlink(part + suffix) }
        try fill(part)
        // Its last connection is closed by now, and nothing is left in its log.
        guard rename(part, database) == 0 else { throw DriverError.unreadable(part) }
    }

    private func fill(_ path: String) throws {
        let jar = try SessionDatabase(path: path, keys: .file(key), now: .present).jar(now: .present)
        var lines = try responses()[...]
        while !lines.isEmpty {
            let now = Timestamp.present
            try jar.withBatch(now: now) { batch throws(SessionStoreError) in
                for response in lines.prefix(Workload.batch) { try batch.receive(response, at: now) }
            }
            lines = lines.dropFirst(Workload.batch)
        }
        try writeFirstRequests(jar)
    }

    /// The lines of the jar, each as a response of its own.
    func responses() throws -> [ReceivedResponse] {
        var responses: [ReceivedResponse] = []
        try jar.forEachPair { url, fieldValue in
            let context = RequestContext(url: try RequestURL(Octets(Array(url))))
            responses.append(ReceivedResponse(context: context, setCookie: [Octets(Array(fieldValue))]))
        }
        return responses
    }

    private func writeFirstRequests(_ jar: CookieJar) throws {
        guard let file = fopen(firstRequests.path, "w") else { throw DriverError.unreadable(firstRequests.path) }
        defer { fclose(file) }
        var sites: Set<Octets> = []
        for text in try urlTexts() {
            let url = try RequestURL(text)
            let site = url.host.registrableDomain(.bundled)
            // A command that has nothing to print fails, so only requests that carry something are of use.
            guard !sites.contains(site),
                !(try jar.cookieString(for: RequestContext(url: url), now: .present).isEmpty)
            else { continue }
            sites.insert(site)
            fputs("\(text)\t\(String(decoding: site, as: UTF8.self))\n", file)
        }
    }
}
