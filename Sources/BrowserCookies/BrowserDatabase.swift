public import Captures
import CookieModel
import SQLite

/// The cookie database of a browser on this computer: Firefox's, Chromium's or WebKitGTK's.
///
/// A copy is read, which is made while the browser may be running and removed afterwards. The browser's own files are
/// only opened for reading, and never locked.
public struct BrowserDatabase: Sendable {
    /// The options of reading a database.
    public struct Options: Sendable {
        /// The Firefox container that is read; 0 for the browser's ordinary cookies, which are in no container.
        public var container = 0
        /// Gives the password that Chromium encrypts under (its entry in the desktop's keyring). It is called once,
        /// with the first `v11` value.
        public var password: @Sendable () -> [UInt8]? = { nil }

        /// The ordinary cookies, without a password.
        public init() {}
    }

    private let path: String
    private let source: String
    private let options: Options

    /// The database at `path`, called `source` in places.
    public init(path: String, source: String, options: Options = Options()) {
        self.path = path
        self.source = source
        self.options = options
    }

    /// Emits the cookies and the failures, in the order of the database.
    ///
    /// - Parameter expected: the format that the database must have; `nil` for any.
    /// - Returns: the format.
    /// - Throws: a `CaptureError` if nothing can be read, and the errors of `emit`.
    @discardableResult
    public func read(
        as expected: CaptureFormat? = nil, _ emit: (CaptureItem) throws -> Void
    ) throws -> CaptureFormat {
        let copy = try DatabaseCopy(of: path, source: source)
        defer { copy.remove() }
        let place = CapturePlace(source: source)
        do {
            let database = try DatabaseConnection(path: copy.path) { database in
                // A database of unknown origin must not run code in its schema.
                database.limitLengths(to: BrowserCookieRows.lengthLimit)
                try database.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            }
            defer { try? database.close() }
            return try database.read {
                guard let table = try BrowserDatabase.table(database, source: source, options: options) else {
                    throw CaptureError(.databaseUnknown, at: place)
                }
                guard expected == nil || expected == table.format else {
                    throw CaptureError(.databaseOtherFormat(table.format), at: place)
                }
                let unstated = table.format.unstated
                try table.read(database) { try emit($0.leavingOpen(unstated)) }
                return table.format
            }
        } catch let error as DatabaseError {
            throw CaptureError(.databaseDamaged(error.primaryCode), at: place)
        }
    }

    /// The browser's own table, by the columns that only it has.
    private static func table(
        _ database: DatabaseConnection, source: String, options: Options
    ) throws -> (any BrowserCookieTable)? {
        if try database.hasTable("moz_cookies") {
            let columns = try columns(database, of: "moz_cookies")
            let common: Set<String> = ["name", "value", "host", "path", "expiry", "isSecure", "isHttpOnly"]
            guard columns.isSuperset(of: common) else { return nil }
            if columns.contains("originAttributes") {
                return FirefoxTable(source: source, columns: columns, container: options.container)
            }
            return WebKitGTKTable(source: source, columns: columns)
        }
        guard try database.hasTable("cookies") else { return nil }
        let columns = try columns(database, of: "cookies")
        let common: Set<String> = ["host_key", "name", "value", "path", "expires_utc"]
        guard columns.isSuperset(of: common) else { return nil }
        let version = try ChromiumTable.version(database)
        return ChromiumTable(source: source, columns: columns, version: version, password: options.password)
    }

    /// The names of a table's columns without hidden ones, whose mark is 1.
    private static func columns(_ database: DatabaseConnection, of table: String) throws -> Set<String> {
        try database.withStatement("PRAGMA main.table_xinfo(\(table))") { statement in
            var names: Set<String> = []
            while try statement.step() {
                if statement.int64(6) != 1 { names.insert(statement.text(1)) }
            }
            return names
        }
    }
}

/// The table that one browser keeps its cookies in.
protocol BrowserCookieTable {
    var format: CaptureFormat { get }
    func read(_ database: DatabaseConnection, _ emit: (CaptureItem) throws -> Void) throws
}

/// The rows of a browser's table, in the order of their numbers. A row that is too long costs itself alone.
struct BrowserCookieRows {
    /// The longest row that is read, and the longest text that the schema may have SQLite make: 8 MiB.
    static let lengthLimit: Int32 = 1 << 23

    private let numbers: PreparedStatement
    private let row: BrowserCookieRow

    /// - Parameters:
    ///   - texts: the columns that are read as octets.
    ///   - numbers: the columns that are read as numbers.
    ///   - columns: the columns that the table has. The others are null.
    init(
        _ database: DatabaseConnection, table: String, texts: [String], numbers: [String], of columns: Set<String>
    ) throws {
        let selected = (texts + numbers).map { name in
            columns.contains(name)
                ? texts.contains(name) ? "CAST(\(name) AS BLOB) AS \(name)" : name : "NULL AS \(name)"
        }
        self.numbers = try database.prepare("SELECT rowid FROM \(table) ORDER BY rowid")
        let statement = try database.prepare(
            "SELECT \(selected.joined(separator: ", ")) FROM \(table) WHERE rowid = ?")
        row = BrowserCookieRow(statement: statement, columns: texts + numbers)
    }

    /// Calls `body` with each row and its place. A row that is too long, or that `body` cannot use, becomes a failure.
    ///
    /// - Parameter body: Returns whether the row is a cookie's.
    func forEach(
        in source: String, _ emit: (CaptureItem) throws -> Void, _ body: (BrowserCookieRow, CapturePlace) throws -> Bool
    ) throws {
        var entry = 0
        while let isReadable = try next() {
            entry += 1
            let place = CapturePlace(source: source, entry: entry)
            if !isReadable {
                try emit(.failure(.rowTooLong, at: place))
            } else if try !body(row, place) {
                try emit(.failure(.rowMalformed, at: place))
            }
        }
    }

    /// Moves to the next row.
    ///
    /// - Returns: whether it can be read: not if it has more bytes than any browser's cookie. `nil` after the last one.
    private func next() throws -> Bool? {
        while try numbers.step() {
            row.statement.reset()
            row.statement.bind(1, numbers.int64(0))
            do {
                if try row.statement.step() { return true }
            } catch  where error.isTooBig {
                return false
            }
        }
        return nil
    }
}

/// The current row of a browser's table. It is valid until the next one is read.
///
/// Columns are read as they are: a database may hold another type than its schema says, and text that is not UTF-8.
struct BrowserCookieRow {
    fileprivate let statement: PreparedStatement
    /// The names of the columns in their order.
    fileprivate let columns: [String]

    /// The cookie in the columns that every browser has; `nil` if one of them is of another type.
    func record(host: String, secure: String, httpOnly: String) -> CookieRecord? {
        guard let name = octets("name"), let value = octets("value"), let path = octets("path"),
            let domain = text(host), !domain.isEmpty
        else { return nil }
        // A dot marks a domain cookie's domain.
        let hasDot = domain.hasPrefix(".")
        return CookieRecord(
            name: name, value: value, domain: hasDot ? String(domain.dropFirst()) : domain, isHostOnly: !hasDot,
            path: path, isSecure: flag(secure), isHTTPOnly: flag(httpOnly))
    }

    /// A same-site-flag, as Firefox and Chromium number them.
    func sameSite(_ column: String, isSecure: Bool) -> SameSite {
        number(column).map { SameSite(browserNumber: Int(clamping: $0), isSecure: isSecure) } ?? .default
    }

    /// A text or blob as octets; `nil` if it is neither. The statement must select it `CAST(… AS BLOB)`.
    func octets(_ column: String) -> Octets? {
        guard let index = index(of: column, as: .blob) else { return nil }
        return Octets(Array(statement.borrowedBytes(index)))
    }

    /// Returns a column as text. Octets that are not UTF-8 become U+FFFD.
    func text(_ column: String) -> String? {
        octets(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A whole number; `nil` if the value is of another type, or if there is no such column.
    func number(_ column: String) -> Int64? {
        index(of: column, as: .integer).map { statement.int64($0) }
    }

    /// A flag; false if there is no such column.
    func flag(_ column: String) -> Bool {
        number(column).map { $0 != 0 } ?? false
    }

    /// The index of a column; `nil` if its value is of another type, or if there is no such column.
    private func index(of column: String, as type: PreparedStatement.ValueType) -> Int32? {
        guard let index = columns.firstIndex(of: column).map(Int32.init), statement.type(index) == type else {
            return nil
        }
        return index
    }
}
