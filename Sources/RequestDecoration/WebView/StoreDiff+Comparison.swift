internal import CookieModel

extension StoreDiff {
    /// The cookies of all sides by identity, and the rule for one of them.
    struct Comparison {
        typealias Index = [NativeCookie.ID: NativeCookie]

        let base: (jar: Index, native: Index)?
        let jar: Index
        let native: Index
        let knowledge: Knowledge

        static func index(_ cookies: [NativeCookie], _ now: Timestamp) -> Index {
            Dictionary(cookies.filter { !$0.isExpired(at: now) }.map { ($0.id, $0) }) { _, last in last }
        }

        /// Every identity that some side has, in a stable order.
        var ids: [NativeCookie.ID] {
            Set(jar.keys).union(native.keys).sorted {
                ($0.domain, $0.path, $0.name, $0.partition) < ($1.domain, $1.path, $1.name, $1.partition)
            }
        }

        /// What to do about one cookie; `nil` where nothing is to be done.
        func action(_ id: NativeCookie.ID) -> Action? {
            let (mine, theirs) = (jar[id], native[id])
            if let mine, let theirs, theirs.holds(mine) { return nil }
            guard let base, base.jar[id] != nil || base.native[id] != nil else { return unknown(mine, theirs) }
            // The journal knows of writes that came while the base was taken.
            let jarChanged = mine != base.jar[id] || knowledge.jarWrites[id] != nil
            var nativeChanged = theirs != base.native[id]
            var isLost = false
            if theirs == nil, let before = base.native[id], before.expiry == nil, !knowledge.nativeSessionContinues {
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
