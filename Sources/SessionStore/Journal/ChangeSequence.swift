/// The changes of a jar as they come, by any process: pages of the journal, none of them empty.
///
/// Ends where its task is cancelled. Asks the journal again after each interval in which nothing came.
public struct ChangeSequence: AsyncSequence, Sendable {
    private let jar: CookieJar
    private let position: Int64
    private let interval: Duration
    private let clock: any Clock<Duration>

    init(jar: CookieJar, position: Int64, interval: Duration, clock: any Clock<Duration>) {
        self.jar = jar
        self.position = position
        self.interval = interval
        self.clock = clock
    }

    /// A reader that begins at the sequence's position.
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self, position: position)
    }

    /// Reads one page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: ChangeSequence
        private var position: Int64

        init(sequence: ChangeSequence, position: Int64) {
            self.sequence = sequence
            self.position = position
        }

        /// The next page; `nil` where the task was cancelled.
        public mutating func next() async throws -> ChangePage? {
            while !Task.isCancelled {
                let page = try sequence.jar.changes(after: position)
                if !page.changes.isEmpty || page.hasGap {
                    position = page.position
                    return page
                }
                do {
                    try await sequence.clock.sleep(for: sequence.interval)
                } catch is CancellationError {
                    return nil
                }
            }
            return nil
        }
    }
}
