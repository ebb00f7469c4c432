import HTTPCaching
import Platform
import StoreEngine
import Synchronization
package import WebPrimitives

/// Stores one response while its body arrives. Nobody sees the response before ``finish(isComplete:now:)``.
///
/// A failure never reaches the client: the response is not stored, and the writer ignores the rest. Its calls write
/// files, so they belong on a thread that may block.
package final class ResponseWriter: Sendable {
    private struct State {
        /// The octets that are not sealed yet: at most one chunk.
        var chunk: [UInt8] = []
        var file: (number: Int64, descriptor: Descriptor)?
        var chunkCount: Int64 = 0
        var length: Int64 = 0
        var isAbandoned = false
    }

    /// Whether nothing was known at the beginning that would keep the response from being stored.
    package let isExpected: Bool
    private let cache: ResponseCache
    private let owner: (jar: Octets, audience: Octets, site: Octets)
    private let response: CachedResponse
    private let request: CacheRequest
    private let policy: CachingPolicy
    private let seal = BodySeal()
    private let state = Mutex(State())

    init(
        _ cache: ResponseCache, _ response: CachedResponse, to request: CacheRequest, _ policy: CachingPolicy,
        jar: Octets, audience: Octets, site: Octets, isExpected: Bool
    ) {
        self.isExpected = isExpected
        self.cache = cache
        self.response = response
        self.request = request
        self.policy = policy
        owner = (jar, audience, site)
    }

    deinit {
        abandon()
    }

    /// Adds the next octets of the body.
    ///
    /// - Returns: Whether the response can still be stored.
    @discardableResult
    package func append(_ octets: some Collection<UInt8>) -> Bool {
        state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.length += Int64(octets.count)
            guard state.length <= cache.limits.bodySize else { return abandon(&state) }
            var rest = octets[...]
            while !rest.isEmpty {
                // A full chunk is sealed when there is another octet: only then is it known not to be the last one.
                if state.chunk.count == BodySeal.chunkLength, !writeChunk(&state, isLast: false) { return false }
                let part = rest.prefix(BodySeal.chunkLength - state.chunk.count)
                state.chunk += part
                rest = rest[part.endIndex...]
            }
            return true
        }
    }

    /// Stores the response. It replaces those that its request would have got.
    ///
    /// - Parameters:
    ///   - isComplete: Whether the message was complete. Otherwise, what has arrived may be stored as a part.
    ///   - now: The current time.
    /// - Returns: The ID of the stored response; `nil` if it is not stored.
    @discardableResult
    package func finish(isComplete: Bool, now: Timestamp) -> Int64? {
        state.withLock { state in
            guard !state.isAbandoned, knownLength.map({ $0 == state.length }) ?? true,
                let received = response.received(bodyLength: state.length, isComplete: isComplete)
            else {
                abandon(&state)
                return nil
            }
            var sealed: [UInt8]?
            if state.file == nil, state.length <= Int64(cache.limits.inlineSize) {
                sealed = try? seal.seal(state.chunk, number: 0, isLast: true)
            } else if !writeChunk(&state, isLast: true) {
                return nil
            }
            let head = StoredHead(
                jar: owner.jar, audience: owner.audience, site: owner.site, response: received,
                body: seal.withLength(state.length))
            guard let id = cache.insert(head, to: request, policy, file: state.file?.number, sealed, now: now) else {
                abandon(&state)
                return nil
            }
            // The file belongs to its row now.
            state.file?.descriptor.close()
            state = State(isAbandoned: true)
            return id
        }
    }

    /// The length of a body that is combined from parts; `nil` for any other.
    private var knownLength: Int64? { if case .whole(let length) = response.extent { length } else { nil } }

    /// Stores nothing, and removes what was written.
    package func abandon() {
        _ = state.withLock { abandon(&$0) }
    }

    /// - Returns: `false`.
    @discardableResult
    private func abandon(_ state: inout State) -> Bool {
        if let (number, descriptor) = state.file {
            descriptor.close()
            cache.files.remove(number)
        }
        state = State(isAbandoned: true)
        return false
    }

    /// Seals and writes the current chunk; abandons the response if that fails.
    private func writeChunk(_ state: inout State, isLast: Bool) -> Bool {
        guard let sealed = try? seal.seal(state.chunk, number: state.chunkCount, isLast: isLast) else {
            return abandon(&state)
        }
        let position = state.chunkCount * Int64(BodySeal.chunkLength + BodySeal.tagLength)
        do throws(SystemError) {
            let file = if let file = state.file { file } else { try cache.files.create() }
            state.file = file
            do throws(SystemError) {
                try file.descriptor.write(sealed, at: position)
            } catch {
                guard error.number == ENOSPC, cache.makeRoom() else { throw error }
                try file.descriptor.write(sealed, at: position)
            }
        } catch {
            cache.note(.notWritten(cache.folder.path, error.number))
            return abandon(&state)
        }
        state.chunkCount += 1
        state.chunk.removeAll(keepingCapacity: true)
        return true
    }
}
