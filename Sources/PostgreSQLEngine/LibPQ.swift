import Platform
internal import StoreEngine

/// PostgreSQL's client library, loaded when it is first needed.
///
/// It is not linked: loading it and its dependencies takes about ten milliseconds, which every command would pay.
struct LibPQ: Sendable {
    typealias Session = OpaquePointer?
    typealias Result = OpaquePointer?
    typealias Text = UnsafePointer<CChar>?
    typealias MutableText = UnsafeMutablePointer<CChar>?

    /// A function that receives the context that was set with it, and a notice.
    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, Result) -> Void

    /// One setting of a connection, laid out as `PQconninfoOption`.
    struct Option {
        let keyword, environment, builtIn, value, label, display: Text
        let size: Int32
    }

    /// Gives an array of ``Option``.
    let parseSettings: @Sendable @convention(c) (Text, UnsafeMutablePointer<MutableText>?) -> UnsafeMutableRawPointer?
    let freeSettings: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    let freeMemory: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    let connectStart: @Sendable @convention(c) (UnsafePointer<Text>?, UnsafePointer<Text>?, Int32) -> Session
    let connectPoll: @Sendable @convention(c) (Session) -> Int32
    let socket: @Sendable @convention(c) (Session) -> Int32
    let status: @Sendable @convention(c) (Session) -> Int32
    let finish: @Sendable @convention(c) (Session) -> Void
    let errorMessage: @Sendable @convention(c) (Session) -> Text
    /// Returns the verbosity that was set before.
    let setErrorVerbosity: @Sendable @convention(c) (Session, Int32) -> Int32
    let serverVersion: @Sendable @convention(c) (Session) -> Int32
    /// The process that the server named when the connection was made.
    let backendPID: @Sendable @convention(c) (Session) -> Int32
    let setNonblocking: @Sendable @convention(c) (Session, Int32) -> Int32
    let enterPipelineMode: @Sendable @convention(c) (Session) -> Int32
    let pipelineSync: @Sendable @convention(c) (Session) -> Int32
    let flush: @Sendable @convention(c) (Session) -> Int32
    let consumeInput: @Sendable @convention(c) (Session) -> Int32
    let isBusy: @Sendable @convention(c) (Session) -> Int32
    let getResult: @Sendable @convention(c) (Session) -> Result
    let sendPrepare: @Sendable @convention(c) (Session, Text, Text, Int32, UnsafePointer<UInt32>?) -> Int32
    let sendDescribePrepared: @Sendable @convention(c) (Session, Text) -> Int32
    let sendQueryParameters:
        @Sendable @convention(c) (
            Session, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<Text>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> Int32
    let sendQueryPrepared:
        @Sendable @convention(c) (
            Session, Text, Int32, UnsafePointer<Text>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let clear: @Sendable @convention(c) (Result) -> Void
    let resultStatus: @Sendable @convention(c) (Result) -> Int32
    let errorField: @Sendable @convention(c) (Result, Int32) -> Text
    let parameterCount: @Sendable @convention(c) (Result) -> Int32
    let parameterType: @Sendable @convention(c) (Result, Int32) -> UInt32
    let rowCount: @Sendable @convention(c) (Result) -> Int32
    let isNull: @Sendable @convention(c) (Result, Int32, Int32) -> Int32
    let length: @Sendable @convention(c) (Result, Int32, Int32) -> Int32
    let value: @Sendable @convention(c) (Result, Int32, Int32) -> Text
    /// Returns the receiver that was set before.
    let setNoticeReceiver:
        @Sendable @convention(c) (Session, NoticeReceiver?, UnsafeMutableRawPointer?) -> UnsafeRawPointer?
    let changedRows: @Sendable @convention(c) (Result) -> Text
    let commandTag: @Sendable @convention(c) (Result) -> Text

    /// The library, loaded once.
    ///
    /// - Throws: ``StoreFailure`` if it is not installed.
    static func load() throws(StoreFailure) -> LibPQ {
        guard let loaded else { throw StoreFailure(.clientLibraryMissing, code: "libpq") }
        return loaded
    }

    private static let loaded = LibPQ()

    private init?() {
        #if canImport(Darwin)
            let names = ["libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib"]
        #else
            let names = ["libpq.so.5"]
        #endif
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        do throws(MissingSymbol) {
            let symbols = Symbols(library: library)
            parseSettings = try symbols.find("PQconninfoParse")
            freeSettings = try symbols.find("PQconninfoFree")
            freeMemory = try symbols.find("PQfreemem")
            connectStart = try symbols.find("PQconnectStartParams")
            connectPoll = try symbols.find("PQconnectPoll")
            socket = try symbols.find("PQsocket")
            status = try symbols.find("PQstatus")
            finish = try symbols.find("PQfinish")
            errorMessage = try symbols.find("PQerrorMessage")
            setErrorVerbosity = try symbols.find("PQsetErrorVerbosity")
            serverVersion = try symbols.find("PQserverVersion")
            backendPID = try symbols.find("PQbackendPID")
            setNonblocking = try symbols.find("PQsetnonblocking")
            enterPipelineMode = try symbols.find("PQenterPipelineMode")
            pipelineSync = try symbols.find("PQpipelineSync")
            flush = try symbols.find("PQflush")
            consumeInput = try symbols.find("PQconsumeInput")
            isBusy = try symbols.find("PQisBusy")
            getResult = try symbols.find("PQgetResult")
            sendPrepare = try symbols.find("PQsendPrepare")
            sendDescribePrepared = try symbols.find("PQsendDescribePrepared")
            sendQueryParameters = try symbols.find("PQsendQueryParams")
            sendQueryPrepared = try symbols.find("PQsendQueryPrepared")
            clear = try symbols.find("PQclear")
            resultStatus = try symbols.find("PQresultStatus")
            errorField = try symbols.find("PQresultErrorField")
            parameterCount = try symbols.find("PQnparams")
            parameterType = try symbols.find("PQparamtype")
            rowCount = try symbols.find("PQntuples")
            isNull = try symbols.find("PQgetisnull")
            length = try symbols.find("PQgetlength")
            value = try symbols.find("PQgetvalue")
            setNoticeReceiver = try symbols.find("PQsetNoticeReceiver")
            changedRows = try symbols.find("PQcmdTuples")
            commandTag = try symbols.find("PQcmdStatus")
        } catch {
            return nil
        }
    }

    /// The library is too old and lacks a function.
    private struct MissingSymbol: Error {}

    /// Functions of the library by name. Each has the type of the property that it is assigned to.
    private struct Symbols {
        let library: UnsafeMutableRawPointer

        func find<Function>(_ name: String) throws(MissingSymbol) -> Function {
            guard let address = dlsym(library, name) else { throw MissingSymbol() }
            return unsafeBitCast(address, to: Function.self)
        }
    }
}

extension LibPQ {
    // Values of libpq-fe.h that Crumb handles.
    static let statusOK: Int32 = 0
    static let pollFailed: Int32 = 0
    static let pollReading: Int32 = 1
    static let pollWriting: Int32 = 2
    static let pollOK: Int32 = 3
    static let resultCommand: Int32 = 1
    static let resultRows: Int32 = 2
    static let resultPipelineSync: Int32 = 10
    static let resultPipelineAborted: Int32 = 11
    /// PQERRORS_VERBOSE
    static let verbose: Int32 = 2
    /// PG_DIAG_SEVERITY_NONLOCALIZED
    static let fieldSeverity = Int32(UInt8(ascii: "V"))
    /// PG_DIAG_MESSAGE_PRIMARY
    static let fieldMessage = Int32(UInt8(ascii: "M"))
    /// PG_DIAG_SQLSTATE
    static let fieldState = Int32(UInt8(ascii: "C"))
}

/// The receiver of the notices of a connection. Without one, libpq prints them on standard error.
final class ServerNotices {
    private let library: LibPQ
    private let warn: @Sendable (String) -> Void

    init(_ library: LibPQ, warn: @escaping @Sendable (String) -> Void) {
        self.library = library
        self.warn = warn
    }

    /// Receives the notices of a connection. The connection must not outlive this object.
    func receive(from session: LibPQ.Session) {
        let receiver: LibPQ.NoticeReceiver = { context, notice in
            guard let context else { return }
            Unmanaged<ServerNotices>.fromOpaque(context).takeUnretainedValue().report(notice)
        }
        _ = library.setNoticeReceiver(session, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    private func report(_ notice: LibPQ.Result) {
        func field(_ code: Int32) -> String? { library.errorField(notice, code).map { String(cString: $0) } }
        guard field(LibPQ.fieldSeverity) == "WARNING", let message = field(LibPQ.fieldMessage) else { return }
        warn(message)
    }
}
