/// The files a subject reads, as `crumb-bench generate` writes them.
public struct Workload: Sendable {
    /// The folder they are in.
    public let folder: String
    /// The number of cookies in the jar, for subjects that have one.
    public let size: Int

    /// The workload for jars of `size` cookies in `folder`.
    public init(folder: String, size: Int) {
        self.folder = folder
        self.size = size
    }

    /// Set-Cookie lines as sites send them, some of them broken: `URL TAB FIELD-VALUE`.
    public var lines: LineFile { LineFile("\(folder)/lines.tsv") }
    /// The lines that fill a jar of ``size`` cookies, none refused: `URL TAB FIELD-VALUE`.
    public var jar: LineFile { LineFile("\(folder)/jar-\(size).tsv") }
    /// Request URLs for that jar.
    public var urls: LineFile { LineFile("\(folder)/urls-\(size).txt") }
    /// A database that Crumb made of that jar; made by the first subject that needs it.
    public var database: String { "\(folder)/database-\(size).sqlite" }
    /// The key that such databases are sealed with.
    public var key: String { "\(folder)/database.key" }
    /// The first request that carries a cookie to each site: `URL TAB SITE`.
    public var firstRequests: LineFile { LineFile("\(folder)/first-\(size).tsv") }

    /// The request URLs as texts.
    public func urlTexts() throws -> [String] {
        var texts: [String] = []
        try urls.forEach { texts.append(String(decoding: $0, as: UTF8.self)) }
        return texts
    }
}
