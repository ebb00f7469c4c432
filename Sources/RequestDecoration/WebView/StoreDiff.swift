package import CookieModel
package import SessionStore

/// The changes that a jar and a web view's native store have each made since they were last the same, and the actions
/// that bring them together.
///
/// A three-way comparison, pure: without a common base a cookie that one side lacks counts as new on the other; with
/// one, it counts as removed. Expired cookies count as absent, on every side.
public struct StoreDiff: Sendable {
    /// One of the two stores.
    public enum Side: String, Sendable {
        /// The jar.
        case jar
        /// The web view's own store.
        case native
    }

    /// Both stores at the moment when they were last brought together.
    package struct Base: Sendable {
        /// The jar's cookies.
        package let jar: [NativeCookie]
        /// The native store's cookies. It may cap lifetimes, and drop cookies that it cannot hold.
        package let native: [NativeCookie]

        /// A base.
        package init(jar: [NativeCookie], native: [NativeCookie]) {
            self.jar = jar
            self.native = native
        }
    }

    /// The change that an action makes.
    public enum Change: Sendable, Hashable {
        /// Take the native store's cookie into the jar.
        case takeIntoJar(NativeCookie)
        /// Put the jar's cookie into the native store.
        case putIntoNative(NativeCookie)
        /// Remove the cookie from the jar.
        case removeFromJar(NativeCookie)
        /// Remove the cookie from the native store.
        case removeFromNative(NativeCookie)
    }

    /// The reason for an action.
    public enum Reason: String, Sendable, CaseIterable {
        /// Only the jar has it, and nothing is known of an earlier moment.
        case onlyInJar = "only-in-jar"
        /// Only the native store has it, and nothing is known of an earlier moment.
        case onlyInNative = "only-in-native"
        /// The jar's changed, the native store's did not.
        case changedInJar = "changed-in-jar"
        /// The native store's changed, the jar's did not.
        case changedInNative = "changed-in-native"
        /// The jar's was removed, the native store's did not change.
        case removedFromJar = "removed-from-jar"
        /// The native store's was removed, the jar's did not change.
        case removedFromNative = "removed-from-native"
        /// The native store lost its session cookies with its process: they were not removed.
        case sessionEnded = "session-ended"
        /// Both changed, and the later write counts.
        case laterWrite = "later-write"
        /// Both changed in unknown order, and this side is preferred.
        case preferredSide = "preferred-side"

        /// Whether both sides had changed the cookie, so that one of them loses.
        package var isConflict: Bool { self == .laterWrite || self == .preferredSide }
    }

    /// One cookie and the change to make.
    public struct Action: Sendable, Hashable {
        /// The change to make.
        public let change: Change
        /// The reason for the change.
        public let reason: Reason

        /// The side that counts: the other one is changed.
        public var winner: Side {
            switch change {
            case .takeIntoJar, .removeFromJar: .native
            case .putIntoNative, .removeFromNative: .jar
            }
        }
    }

    /// Facts that the contents of the two stores do not show.
    package struct Knowledge: Sendable {
        /// When the jar wrote or removed a cookie since the base, by its journal: ``StoreDiff/writes(of:)``.
        package var jarWrites: [NativeCookie.ID: Timestamp] = [:]
        /// When the native store was seen to write or remove a cookie since the base: by its observer, or a
        /// ``CaptureMessage``.
        package var nativeWrites: [NativeCookie.ID: Timestamp] = [:]
        /// Whether the native store's session has gone on since the base. After a restart its session cookies are gone,
        /// which does not mean that they were removed.
        package var nativeSessionContinues = true
        /// The side that wins if both changed and the times do not decide. By default the native store, because its
        /// cookies came from the server through an engine.
        package var preferredSide = Side.native

        /// Nothing beside the contents.
        package init() {}
    }

    /// The actions to take, in the order of the cookies' identities.
    package let actions: [Action]
    /// The jar's cookies that no native store can hold, and which are therefore compared with nothing.
    package let omissions: [WebViewPlan.Omission]
    /// The jar's cookies as a native store holds them: the jar's part of a ``Base``.
    package let jar: [NativeCookie]

    /// Compares a jar with a native store.
    ///
    /// - Parameters:
    ///   - base: both stores when they were last brought together; `nil` if not known.
    ///   - jar: the jar's cookies, with values.
    ///   - native: the native store's cookies.
    ///   - knowledge: the times of writes on each side.
    ///   - capabilities: the capabilities of the native store.
    ///   - now: the current time.
    package init(
        base: Base?, jar: [Cookie], native: [NativeCookie], knowledge: Knowledge = Knowledge(),
        capabilities: NativeStoreCapabilities = .webKit, now: Timestamp
    ) {
        var omissions: [WebViewPlan.Omission] = []
        var held: [NativeCookie] = []
        for cookie in jar where !cookie.isExpired(at: now) {
            do throws(NativeCookie.Obstacle) {
                held.append(try NativeCookie(cookie, capabilities: capabilities))
            } catch {
                omissions.append(WebViewPlan.Omission(cookie: cookie, obstacle: error))
            }
        }
        self.omissions = omissions
        self.jar = held
        let comparison = Comparison(
            base: base.map { (Comparison.index($0.jar, now), Comparison.index($0.native, now)) },
            jar: Comparison.index(held, now), native: Comparison.index(native, now), knowledge: knowledge)
        actions = comparison.ids.compactMap(comparison.action)
    }

    /// When each cookie of a jar's changes was last written or removed.
    package static func writes(of changes: [CookieChange]) -> [NativeCookie.ID: Timestamp] {
        var writes: [NativeCookie.ID: Timestamp] = [:]
        for change in changes where change.cause != .expired {
            guard let id = NativeCookie.ID(change.cookie) else { continue }
            writes[id] = max(writes[id] ?? change.time, change.time)
        }
        return writes
    }
}

extension StoreDiff {
    /// The cookies of all sides by identity, and the rule for one of them.
    struct Comparison {
        typealias Index = [NativeCookie.ID: NativeCookie]

        let base: (jar: Index, native: Index)?
        let jar: Index
        let native: Index
        let knowledge: Knowledge

        /// Witnesses of a gateway count on no side: they are the gateway's and the native store's alone.
        static func index(_ cookies: [NativeCookie], _ now: Timestamp) -> Index {
            let compared = cookies.filter { !$0.isExpired(at: now) && !WitnessName.matches(Octets($0.name)) }
            return Dictionary(compared.map { ($0.id, $0) }) { _, last in last }
        }

        /// Every identity that some side has, in a stable order.
        var ids: [NativeCookie.ID] {
            Set(jar.keys).union(native.keys).sorted {
                ($0.domain, $0.path, $0.name, $0.partition) < ($1.domain, $1.path, $1.name, $1.partition)
            }
        }

        /// Returns the action for one cookie; `nil` if none is needed.
        func action(_ id: NativeCookie.ID) -> Action? {
            let (mine, theirs) = (jar[id], native[id])
            if let mine, let theirs, theirs.holds(mine) { return nil }
            guard let base, base.jar[id] != nil || base.native[id] != nil else { return unknown(mine, theirs) }
            // The journal knows of writes that came while the base was taken.
            let jarChanged = mine != base.jar[id] || knowledge.jarWrites[id] != nil
            let before = base.native[id]
            var nativeChanged = if let theirs, let before { !theirs.holds(before) } else { theirs != before }
            var isLost = false
            if theirs == nil, let before, before.expiry == nil, !knowledge.nativeSessionContinues {
                // Gone with its process, not removed.
                nativeChanged = false
                isLost = true
            }
            switch (jarChanged, nativeChanged) {
            case (false, false): return isLost ? decide(.jar, mine, theirs, .sessionEnded) : nil
            case (true, false):
                return decide(.jar, mine, theirs, mine == nil ? .removedFromJar : .changedInJar)
            case (false, true):
                return decide(.native, mine, theirs, theirs == nil ? .removedFromNative : .changedInNative)
            case (true, true): return conflict(id, mine, theirs)
            }
        }

        /// A cookie that nothing is known of from an earlier moment.
        private func unknown(_ mine: NativeCookie?, _ theirs: NativeCookie?) -> Action? {
            guard let id = (mine ?? theirs)?.id else { return nil }
            switch (mine, theirs) {
            case (_?, nil):
                // The other side is known to have written later than this one: it removed the cookie.
                return knowledge.nativeWrites[id] == nil
                    ? decide(.jar, mine, theirs, .onlyInJar) : conflict(id, mine, theirs)
            case (nil, _?):
                return knowledge.jarWrites[id] == nil
                    ? decide(.native, mine, theirs, .onlyInNative) : conflict(id, mine, theirs)
            default: return conflict(id, mine, theirs)
            }
        }

        private func conflict(_ id: NativeCookie.ID, _ mine: NativeCookie?, _ theirs: NativeCookie?) -> Action? {
            guard let jarWrite = knowledge.jarWrites[id], let nativeWrite = knowledge.nativeWrites[id],
                jarWrite != nativeWrite
            else { return decide(knowledge.preferredSide, mine, theirs, .preferredSide) }
            return decide(jarWrite > nativeWrite ? .jar : .native, mine, theirs, .laterWrite)
        }

        /// The change that makes the other side like the winner.
        private func decide(
            _ winner: Side, _ mine: NativeCookie?, _ theirs: NativeCookie?, _ reason: Reason
        ) -> Action? {
            let change: Change
            switch (winner, mine, theirs) {
            case (.jar, let cookie?, _): change = .putIntoNative(cookie)
            case (.jar, nil, let cookie?): change = .removeFromNative(cookie)
            case (.native, _, let cookie?): change = .takeIntoJar(cookie)
            case (.native, let cookie?, nil): change = .removeFromJar(cookie)
            case (_, nil, nil): return nil
            }
            return Action(change: change, reason: reason)
        }
    }
}

extension StoreDiff {
    /// The outcome of a change of the jar.
    package struct Outcome: Sendable {
        /// The action.
        package let action: Action
        /// The jar's decision.
        package let decision: StorageDecision
    }

    /// Applies the changes to the jar, in one transaction. The jar's rules decide on each cookie that it receives.
    ///
    /// - Returns: the outcome of each change of the jar. Changes of the native store are not among them.
    @discardableResult
    package func apply(to jar: CookieJar, now: Timestamp? = nil) throws(SessionStoreError) -> [Outcome] {
        let known = Dictionary(self.jar.map { ($0.id, $0) }) { _, last in last }
        guard actions.contains(where: { $0.winner == .native }) else { return [] }
        return try jar.withBatch(now: now) { batch throws(SessionStoreError) in
            var outcomes: [Outcome] = []
            for action in actions {
                switch action.change {
                case .takeIntoJar(let cookie):
                    let decision = try batch.receive(cookie.record(over: known[cookie.id]))
                    outcomes.append(Outcome(action: action, decision: decision))
                case .removeFromJar(let cookie):
                    outcomes.append(Outcome(action: action, decision: try batch.receive(cookie.deletion())))
                case .putIntoNative, .removeFromNative: break
                }
            }
            return outcomes
        }.result
    }
}
