import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import SessionStore
import Synchronization

@testable import SessionService

extension Request {
    /// A request without a body.
    static func post(_ path: String, _ fields: HTTPFields) -> Request {
        Request(
            head: HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer()))
    }
}

extension ServiceRequestContext {
    /// Of a request by somebody who may do everything.
    static var owner: ServiceRequestContext {
        var context = ServiceRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        context.caller = Caller(name: "owner", grant: .everything)
        return context
    }
}

/// Counts.
final class Tally: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
