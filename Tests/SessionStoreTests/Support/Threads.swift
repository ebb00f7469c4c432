import Foundation
import SessionStore
import Synchronization

/// Runs `body` on so many threads at once and returns what each came to, in order.
func onThreads<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Result] {
    let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread {
            let result = Swift.Result { try body(index) }
            results.withLock { $0[index] = result }
            group.leave()
        }.start()
    }
    group.wait()
    return try results.withLock { results in
        try (0..<count).compactMap { try results[$0]?.get() }
    }
}

/// The code of the error that `body` throws; `nil` where it throws none, or another one.
func errorCode(_ body: () throws -> some Any) -> SessionStoreError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as SessionStoreError {
        return error.code
    } catch {
        return nil
    }
}
