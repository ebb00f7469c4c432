import CookieModel
import Foundation
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

/// Runs curl once for each hop, with the cookies for that hop, and takes what each answer sets before the next.
final class CurlSession {
    private let plan: CurlPlan
    private let program: String
    private let target: ImportTarget
    private let console: Console
    /// What happened, hop by hop.
    private(set) var reports: [CurlHopReport] = []
    private var fallback: CurlFallback?
    private var authorization: AuthorizationRule?
    private let nonces = DPoPNonces()
    private var replayedInput: Int32?
    private var headerFile: Int32?

    init(plan: CurlPlan, program: String, target: ImportTarget, console: Console) {
        self.plan = plan
        self.program = program
        self.target = target
        self.console = console
    }

    /// Makes the requests; the exit status of the last curl.
    func run(_ context: RequestContext) throws -> Int32 {
        defer { [replayedInput, headerFile].forEach { if let descriptor = $0 { close(descriptor) } } }
        fallback = try target.jar.flatMap { try CurlFallback($0, plan, clock: console.clock) }
        try openFiles()
        let fields = try readableFields()
        var hop = RedirectChain(context)
        /// Whether this hop was made before, without the nonce that its server wanted.
        var isRepeated = false
        /// What there is to do about the answers since the last token was delivered.
        var failure: LoginFallbackError?
        var warning: String?
        while true {
            if let problem = plan.problem(with: hop) { throw problem }
            let signIn = try signIn(for: hop, isRepeated: isRepeated)
            let run = try CurlHopRun(
                plan, hop, decoration: decoration(of: hop, fields), signIn: signIn, console: console)
            var report = CurlHopReport(hop, cookies: run.decoration.cookies.cookies, fields: run.decoration.fields)
            defer { reports.append(report) }
            let status = try run.curl(program, standardInput: rewoundInput(), headerFile: headerFile) { block in
                report.statuses.append(block.status)
                guard !block.isFromProxy else { return }
                report.noteResponse()
                failure = failure ?? self.fallback?.failure(block, from: hop.context.url)
                warning = self.fallback?.warning(block, from: hop.context.url)
                if let nonce = block.proofNonce { self.nonces.remember(nonce, for: hop.context.url.origin) }
                let response = ReceivedResponse(context: hop.context, status: block.status, setCookie: block.setCookie)
                report.add(try self.target.receive(response, now: self.console.now))
            }
            report.noteEnd(status)
            switch run.repetition {
            case .notSignedIn(let challenge):
                authorization = try fallback?.answer(challenge, now: console.now)
                failure = nil
                report.fallback = challenge.sign.rawValue
                if !hop.hasActed { hop = RedirectChain(context) }
                isRepeated = false
                continue
            case .nonceWanted:
                failure = nil
                isRepeated = true
                continue
            case nil:
                isRepeated = false
            }
            let redirect = run.redirect(endedWith: status)
            if let redirect, hop.number <= plan.redirectLimit,
                let next = try hop.following(redirect, keptPosts: plan.keptPosts)
            {
                // What curl says about a redirect that is followed is news to nobody here.
                hop = next
                continue
            }
            try run.finish(isTooMany: redirect != nil, limit: plan.redirectLimit)
            if let warning { console.error(warning) }
            if let failure { throw failure }
            return redirect == nil ? status : 47
        }
    }

    /// What the login rules want of a hop.
    private func signIn(for hop: RedirectChain, isRepeated: Bool) throws -> CurlHopRun.SignIn {
        let rules = [authorization, try fallback?.present(in: hop, now: console.now)].compactMap(\.self)
        var credential: CurlCredential?
        for rule in rules where credential == nil {
            credential = try rule.configuration(
                for: hop, method: plan.sentMethod(for: hop), nonces: nonces, now: console.now)
        }
        let mayWantNonce = credential?.isProven == true && !isRepeated
        // With nothing left to try, what the answer says is for the user, whatever it is.
        let (fallback, url) = (fallback.flatMap { $0.isOver ? nil : $0 }, hop.context.url)
        guard mayWantNonce || fallback != nil else {
            return CurlHopRun.SignIn(configuration: credential?.configuration ?? [])
        }
        return CurlHopRun.SignIn(
            repetition: { block in
                if mayWantNonce, block.head.wantsProofNonce { return .nonceWanted }
                return fallback?.challenge(block, from: url).map { .notSignedIn($0) }
            },
            configuration: credential?.configuration ?? [])
    }

    /// What the jar adds to a hop; complains of cookies that cannot be read back.
    private func decoration(of hop: RedirectChain, _ fields: [StoredHeaderField]) throws -> Decoration {
        let retrieval = try target.jar?.retrieve(for: hop.context, now: console.now) ?? Retrieval()
        for exclusion in retrieval.excluded where exclusion.reasons.contains(.unreadable) {
            console.error("\(exclusion.cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        return Decoration(
            retrieval, own: plan.cookies(for: hop).map { Octets($0) },
            fields: FieldSelection(fields, for: hop.context.url, isSetByCaller: plan.setsField))
    }

    /// The header fields that are kept with the jar; complains of those that cannot be read back.
    private func readableFields() throws -> [StoredHeaderField] {
        let fields = try target.jar?.cachedHeaderFields() ?? []
        for field in fields where field.value == nil {
            console.error(HeaderFieldReport(field, showingValue: false).damageLine)
        }
        return fields.filter { $0.value != nil }
    }

    private func openFiles() throws {
        if plan.follows || fallback != nil, plan.options.contains(where: \.readsStandardInput) {
            replayedInput = try RequestBody.bufferedStandardInput()
        }
        switch plan.headerDump {
        case .file(let name):
            // Its Set-Cookie lines are for the user alone.
            let path = name.map { CChar(bitPattern: $0) } + [0]
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                let shown = String(decoding: name, as: UTF8.self)
                throw Problem(.outputFailed, "\(shown): cannot be written: \(String(cString: strerror(errno)))")
            }
            headerFile = descriptor
        case .standardOutput:
            headerFile = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100)
        case nil:
            break
        }
    }

    private func rewoundInput() -> Int32? {
        if let replayedInput { lseek(replayedInput, 0, SEEK_SET) }
        return replayedInput
    }
}

extension RedirectChain {
    /// The chain behind a response that curl would follow; `nil` if it would not.
    ///
    /// - Parameter keptPosts: the statuses for which the user wants a POST to stay one.
    func following(_ response: ResponseBlock, keptPosts: Set<Int>) throws -> RedirectChain? {
        guard (300...399).contains(response.status), let location = response.location else { return nil }
        // curl follows every 3xx with a Location. Those that the Fetch Standard knows no redirect in change nothing
        // about the request, like 307.
        let changesMethod = [301, 302, 303].contains(response.status)
        let keepsMethod = !changesMethod || (context.method == "POST" && keptPosts.contains(response.status))
        // What stands behind the path may be an authorization code.
        let shown = Octets(Array(location.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
        let found: Redirect?
        do throws(RequestURLError) {
            found = try Redirect(
                status: keepsMethod ? 307 : response.status, location: location, url: context.url,
                method: context.method)
        } catch {
            throw Problem(.redirectInvalid, "\(context.url.origin) redirects to '\(shown)': \(error.description)")
        }
        guard let redirect = found else { return nil }
        var next = self
        next.advance(to: redirect)
        return next
    }
}

extension CookieMerge {
    /// The line of a configuration file that has curl send it; empty if there is nothing to send.
    var configuration: [UInt8] {
        guard !octets.isEmpty else { return [] }
        return CurlOption(name: "header", value: Array("Cookie: ".utf8) + octets.bytes).configurationLine
    }
}
