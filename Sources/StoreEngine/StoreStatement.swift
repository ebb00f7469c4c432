package import WebPrimitives

/// A prepared statement: parameters count from 1 and columns from 0.
///
/// This protocol is the cut between the store and its engines. An engine is its own target: it opens connections, runs
/// transactions and statements on them, and throws ``StoreFailure``. The statements are SQL, the same for all engines.
///
/// One thread at a time uses a connection and its statements.
package protocol StoreStatement {
    func bindNull(_ index: Int32)
    func bind(_ index: Int32, _ number: Int64)
    /// Binds octets that are UTF-8 as text.
    func bind(_ index: Int32, text octets: UnsafeRawBufferPointer)
    func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer)
    /// Binds octets that stay where they are until ``releaseParameters()``; none bind NULL.
    func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer)
    /// Binds octets in UTF-8 as text, or NULL. They must stay valid until ``releaseParameters()``.
    func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?)
    /// Releases the bound parameters.
    func releaseParameters()

    /// Moves to the next row.
    ///
    /// - Returns: whether there is another row. After the last one, the statement is reset.
    func step() throws -> Bool
    /// Runs a statement without reading its rows.
    func run() throws
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``StoreFailure/unexpectedResult`` if it changes none or several. An engine may throw it later, but no
    ///   later than at the end of the transaction, which then fails.
    func runChangingOneRow() throws
    /// Ends the reading of rows. The parameters stay bound.
    func reset()
    /// How many rows the statement changed when it ran. Read it before another statement runs on the connection.
    var changeCount: Int { get }

    func isNull(_ column: Int32) -> Bool
    func int64(_ column: Int32) -> Int64
    /// The octets where the engine has them, valid until the next step.
    func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer
}

// Binding Swift's values, and reading them.
extension StoreStatement {
    @inlinable @inline(__always)
    package func bind(_ index: Int32, _ number: Int64?) {
        if let number { bind(index, number) } else { bindNull(index) }
    }

    @inlinable @inline(__always)
    package func bind(_ index: Int32, _ flag: Bool) {
        bind(index, Int64(flag ? 1 : 0))
    }

    @inlinable @inline(__always)
    package func bind(_ index: Int32, text: String) {
        var text = text
        text.withUTF8 { bind(index, text: UnsafeRawBufferPointer($0)) }
    }

    /// Binds octets that are UTF-8 as text, or NULL.
    @inlinable @inline(__always)
    package func bind(_ index: Int32, text octets: Octets?) {
        guard let octets else { return bindNull(index) }
        octets.withSpan { span in span.withUnsafeBytes { bind(index, text: $0) } }
    }

    @inlinable @inline(__always)
    package func bind(_ index: Int32, _ octets: Octets) {
        octets.withSpan { span in span.withUnsafeBytes { bind(index, $0) } }
    }

    @inlinable @inline(__always)
    package func bind(_ index: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bind(index, $0) }
    }

    @inlinable @inline(__always)
    package func optionalInt64(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int64(column)
    }

    @inlinable @inline(__always)
    package func bytes(_ column: Int32) -> [UInt8] {
        Array(borrowedBytes(column))
    }

    @inlinable @inline(__always)
    package func text(_ column: Int32) -> String {
        String(decoding: borrowedBytes(column), as: UTF8.self)
    }
}

/// The reason why an engine could not run a statement: a kind that the store handles, and the engine's own code.
package struct StoreFailure: Error, Equatable {
    package enum Kind: Sendable {
        case notADatabase, damaged, full, inputOutput, readOnly, notOpened, busy
        /// A server rolled the transaction back because of a conflict. Trying again may succeed.
        case undone
        /// A row would refer to one that does not exist.
        case orphan
        /// A text contains U+0000, or is not UTF-8.
        case unstorableText
        /// A name, path or key is too long for the index that finds it.
        case oversizedKey
        /// A server cannot be reached, does not answer in time, or is not the primary.
        case unavailable
        /// A server may have been replaced as the primary, or has just become it.
        case fenced
        /// A server rejects this user.
        case refused
        /// A pooler is between this program and the server.
        case pooled
        /// The database has no schema of the store.
        case schemaMissing
        /// The connection was lost during a commit: it is unknown whether the transaction was stored.
        case unknownCommit
        /// The client library of PostgreSQL is not installed.
        case clientLibraryMissing
        case other
    }

    package let kind: Kind
    /// The name of the engine.
    package let engine: String
    /// The engine's error code, or its message if the connection failed.
    package let code: String

    /// A failure of SQLite.
    package init(_ kind: Kind, code: Int32) {
        self.kind = kind
        engine = "SQLite"
        self.code = "\(code)"
    }

    /// A failure of PostgreSQL.
    package init(_ kind: Kind, code: String) {
        self.kind = kind
        engine = "PostgreSQL"
        self.code = code
    }

    /// A statement did not do what its caller relied on.
    package static let unexpectedResult = StoreFailure(.other, code: 2)
}
