internal import SQLite
internal import StoreEngine

/// A prepared statement. Parameters and columns do not pass through Foundation's types, because this is the hot path of
/// a jar.
///
/// It lives as long as the connection that prepared it. One thread at a time uses it, within that connection's queue.
package struct SQLiteStatement: StoreStatement {
    private let prepared: PreparedStatement
    /// The buffer for bound octets; `nil` if SQLite makes copies of its own.
    private let parameters: ParameterBuffer?

    /// - Parameter parameters: a buffer that no other statement uses; `nil` if SQLite copies what is bound.
    init(_ prepared: PreparedStatement, _ parameters: ParameterBuffer? = nil) {
        self.prepared = prepared
        self.parameters = parameters
    }

    package func bindNull(_ index: Int32) {
        prepared.bindNull(index)
    }

    package func bind(_ index: Int32, _ number: Int64) {
        prepared.bind(index, number)
    }

    package func bind(_ index: Int32, text octets: UnsafeRawBufferPointer) {
        prepared.bind(index, text: octets)
    }

    package func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer) {
        if !octets.isEmpty, let kept = parameters?.keep(octets) {
            prepared.bind(index, inPlace: kept)
        } else {
            prepared.bind(index, octets)
        }
    }

    /// Binds octets that stay valid until ``releaseParameters()``.
    package func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) {
        prepared.bind(index, inPlace: octets)
    }

    /// Binds octets in UTF-8 as text. They must stay valid until ``releaseParameters()``.
    package func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        prepared.bind(index, textInPlace: octets)
    }

    /// Releases the bound parameters.
    package func releaseParameters() {
        prepared.releaseParameters()
    }

    /// Runs a statement that must change one row.
    package func runChangingOneRow() throws {
        try run()
        guard changeCount == 1 else { throw StoreFailure.unexpectedResult }
    }

    /// How many rows the connection's last statement changed.
    package var changeCount: Int { prepared.changeCount }

    /// Whether there is a further row.
    package func step() throws -> Bool {
        do {
            return try prepared.step()
        } catch {
            throw StoreFailure(sqlite: error.code)
        }
    }

    /// Runs a statement that returns no rows.
    package func run() throws {
        defer { parameters?.removeAll() }
        if try step() { prepared.reset() }
    }

    package func reset() {
        prepared.reset()
        parameters?.removeAll()
    }

    package func isNull(_ column: Int32) -> Bool {
        prepared.isNull(column)
    }

    package func int64(_ column: Int32) -> Int64 {
        prepared.int64(column)
    }

    /// The octets where SQLite has them, good until the next step.
    package func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        prepared.borrowedBytes(column)
    }
}

/// Keeps the octets that are bound to a statement until it has run. This saves SQLite an allocation for each value.
///
/// A buffer belongs to one statement. Like the statement, one thread at a time uses it.
final class ParameterBuffer {
    /// Enough for most cookies.
    private static let size = 2048

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    private var used = 0

    deinit { bytes.deallocate() }

    /// Copies octets; `nil` if there is no room for them.
    func keep(_ octets: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard octets.count <= bytes.count - used else { return nil }
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + octets.count)])
        room.copyMemory(from: octets)
        used += octets.count
        return UnsafeRawBufferPointer(room)
    }

    /// Makes room for the next parameters.
    func removeAll() {
        used = 0
    }
}
