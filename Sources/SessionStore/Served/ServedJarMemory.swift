internal import CookieModel
internal import StoreEngine
internal import Synchronization

/// The memory of the jars on a server between transactions, so that a response can be stored in one round trip.
///
/// Other services write as well: a transaction relies on what is known here under the ``Assumption`` that the jar has come
/// no further, which its journal tells. Only the times of the last access are not in the journal.
final class ServedJarMemory: Sendable {
    /// How many cookies are kept of all jars, a site counting as one more, and so a jar.
    private static let sizeLimit = 50_000

    private let state = Mutex<(jars: [Int64: RememberedJar], size: Int)>(([:], 0))

    /// Gives what is known of a jar to a transaction. It is forgotten unless the transaction gives it back.
    ///
    /// - Parameter next: how far the jar has come at least; `nil` if nothing is known of that.
    /// - Returns: `nil` if nothing is known, or if the jar has come further.
    func take(_ id: Int64, notBefore next: Int64?) -> RememberedJar? {
        let jar = state.withLock { state in
            let jar = state.jars.removeValue(forKey: id)
            state.size -= jar?.size ?? 0
            return jar
        }
        guard let jar, jar.reaches(next) else { return nil }
        return jar
    }

    /// Whether the cookies of a site of a jar are known, so that ``take(_:notBefore:)`` gives them.
    func knows(_ site: Octets, ofJar id: Int64, notBefore next: Int64?) -> Bool {
        state.withLock { state in
            guard let jar = state.jars[id], jar.reaches(next) else { return false }
            return jar.store[site] != nil
        }
    }

    /// Takes back what is known of a jar after a commit; `nil` for nothing.
    func keep(_ jar: RememberedJar?, ofJar id: Int64) {
        guard let jar, jar.size <= Self.sizeLimit / 10 else { return }
        state.withLock { state in
            if state.size + jar.size > Self.sizeLimit { state = ([:], 0) }
            state.size += jar.size - (state.jars.updateValue(jar, forKey: id)?.size ?? 0)
        }
    }
}

extension RememberedJar {
    /// Whether the jar has come no further than `next`, as far as is known.
    fileprivate func reaches(_ next: Int64?) -> Bool {
        guard let end else { return false }
        return end.nextPosition >= next ?? 0
    }

    /// How much room it takes.
    fileprivate var size: Int {
        1 + siteCount + store.count + expired.values.reduce(0) { $0 + $1.count }
    }
}

extension Sealer {
    /// That values are sealed under this key.
    var assumption: Assumption {
        Assumption("(\(SealingKeyRows.newestQuery)) = ?1") { [keyID] in $0.bind(1, Int64(keyID)) }
    }
}

extension ChangeRows {
    /// That jars on a server have come as far as their ``end()`` says, and no further.
    static func assumption(_ jars: [(id: Int64, end: JournalEnd)]) -> Assumption {
        Assumption(
            """
            (SELECT bool_and(coalesce((
                SELECT \(nextPosition) = known.position AND jar.next_sequence <= known.sequence
                FROM jar WHERE jar.id = known.id), false))
            FROM unnest(?1::text::bigint[], ?2::text::bigint[], ?3::text::bigint[]) AS known (id, position, sequence))
            """
        ) { statement in
            statement.bind(1, list: jars.map(\.id))
            statement.bind(2, list: jars.map(\.end.nextPosition))
            statement.bind(3, list: jars.map(\.end.nextSequence))
        }
    }
}
