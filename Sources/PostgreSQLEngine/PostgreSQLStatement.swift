internal import StoreEngine
internal import WebPrimitives

/// A statement on a ``PostgreSQLSession``, its parameters and results in binary form.
///
/// Integers are sent in the size of the parameter's type, which the server reports when the statement is prepared.
final class PostgreSQLStatement: ServedStatement {
    private let sql: String
    private let dialect: SQLDialect
    private unowned let session: PostgreSQLSession
    private let library: LibPQ
    private var prepared: (name: String, types: [UInt32], generation: Int)?
    private var parameters: [Parameter]
    private var result: LibPQ.Result = nil
    private var row: Int32 = -1
    private var isQueued = false
    /// The variant of this statement that also checks that one row was changed; `nil` until it is needed.
    private weak var checked: PostgreSQLStatement?
    /// The parameters that the statement was run with before a caller needed it; `nil` if it was not run early, or if
    /// other statements came in between.
    private var foreseen: [Parameter]?
    /// The statement of the fence, which is added to each run outside a transaction; `nil` for none.
    var fence: PostgreSQLStatement?

    private enum Parameter: Equatable {
        case null
        case number(Int64)
        case octets([UInt8])
    }

    init(_ sql: String, on session: PostgreSQLSession, _ library: LibPQ) {
        self.sql = sql
        dialect = SQLDialect(sql)
        self.session = session
        self.library = library
        parameters = Array(repeating: .null, count: dialect.parameters.count)
    }

    deinit { library.clear(result) }

    private func set(_ index: Int32, _ parameter: Parameter) {
        // Ignored, as in SQLite, if the statement does not have the parameter.
        guard let place = dialect.parameters.firstIndex(of: Int(index)) else { return }
        parameters[place] = parameter
    }

    func bindNull(_ index: Int32) { set(index, .null) }
    func bind(_ index: Int32, _ number: Int64) { set(index, .number(number)) }
    func bind(_ index: Int32, text octets: UnsafeRawBufferPointer) { set(index, .octets(Array(octets))) }
    func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer) { set(index, .octets(Array(octets))) }
    func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) { set(index, .octets(Array(octets))) }
    func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        set(index, octets.map { .octets(Array($0)) } ?? .null)
    }
    func releaseParameters() {}
}

// MARK: - Running

extension PostgreSQLStatement {
    func step() throws -> Bool {
        if row < 0 { try runAndWait() }
        row += 1
        if row < library.rowCount(result) { return true }
        reset()
        return false
    }

    /// Queues the statement for the next caller that runs it with the same parameters.
    func foresee() throws {
        try run()
        foreseen = parameters
    }

    /// Discards the early result, because another statement may change it.
    func forgetForeseen() {
        foreseen = nil
    }

    private func runAndWait() throws {
        if foreseen == parameters {
            foreseen = nil
            if isQueued { try session.synchronize() }
            return
        }
        try session.repeatingIfLostIdle {
            try run()
            try fence?.run()
            try session.synchronize()
            try fence?.checkFence(forWriting: false)
        }
    }

    /// Queues the statement. It is sent with the next one whose rows are read, or at the end of the transaction.
    func run() throws {
        reset()
        try session.enqueue(self)
        isQueued = true
    }

    /// Queues the statement inside another one that fails unless it changes one row. So no caller has to wait for its
    /// result: if it fails, the transaction cannot be committed.
    func runChangingOneRow() throws {
        let statement =
            checked
            ?? session.known("WITH changed AS (\(sql) RETURNING 1) SELECT 1 / (count(*) = 1)::integer FROM changed")
        checked = statement
        statement.parameters = parameters
        try statement.run()
    }

    /// Throws if this statement, the query of the fence, was queued and found the fence closed.
    func checkFence(forWriting: Bool) throws {
        if isQueued { try session.synchronize() }
        guard library.rowCount(result) > 0 else { throw StoreFailure.unexpectedResult }
        row = 0
        try (FenceState(rawValue: int64(0)) ?? .noHeartbeat).check(forWriting: forWriting)
    }

    func reset() {
        row = -1
    }

    /// How many rows the statement changed; 0 if it failed. Then its transaction fails, too.
    var changeCount: Int {
        if isQueued { try? session.synchronize() }
        return library.changedRows(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Prepares the statement on the connection that the session has now.
    func prepare() throws {
        guard prepared?.generation != session.generation else { return }
        let (name, types) = try session.prepare(dialect.text)
        prepared = (name, types, session.generation)
    }

    /// Stores the server's answer.
    func take(_ answer: LibPQ.Result) {
        library.clear(result)
        result = answer
        isQueued = false
    }

    /// Sends the statement with its parameters.
    ///
    /// - Returns: 1 if that was possible.
    func send(on pointer: LibPQ.Session) -> Int32 {
        guard let prepared else { return 0 }
        var octets: [UInt8] = []
        var places: [Int?] = []
        var lengths: [Int32] = []
        for (index, parameter) in parameters.enumerated() {
            let start = octets.count
            switch parameter {
            case .null:
                places.append(nil)
            case .number(let number):
                places.append(start)
                Self.append(number, as: index < prepared.types.count ? prepared.types[index] : 0, to: &octets)
            case .octets(let bytes):
                places.append(start)
                octets += bytes
            }
            lengths.append(Int32(octets.count - start))
        }
        // An address is needed even for an empty value.
        octets.append(0)
        let formats = [Int32](repeating: 1, count: places.count)
        return octets.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = places.map { place in place.flatMap { start?.advanced(by: $0) } }
            return prepared.name.withCString { name in
                library.sendQueryPrepared(pointer, name, Int32(values.count), values, lengths, formats, 1)
            }
        }
    }

    private static func append(_ number: Int64, as type: UInt32, to octets: inout [UInt8]) {
        switch type {
        case 16: octets.append(number == 0 ? 0 : 1)
        case 21: withUnsafeBytes(of: Int16(clamping: number).bigEndian) { octets += $0 }
        case 23: withUnsafeBytes(of: Int32(clamping: number).bigEndian) { octets += $0 }
        case 25, 1043: octets += Array("\(number)".utf8)
        default: withUnsafeBytes(of: number.bigEndian) { octets += $0 }
        }
    }
}

// MARK: - Columns

extension PostgreSQLStatement {
    func isNull(_ column: Int32) -> Bool {
        library.isNull(result, row, column) != 0
    }

    /// A number of any size, or a Boolean.
    func int64(_ column: Int32) -> Int64 {
        let bytes = borrowedBytes(column)
        guard let first = bytes.first, bytes.count <= 8 else { return 0 }
        // A Boolean is one octet, 0 or 1. In other numbers, the first octet has the sign.
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }

    func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let count = Int(library.length(result, row, column))
        return UnsafeRawBufferPointer(start: count == 0 ? nil : library.value(result, row, column), count: count)
    }
}
