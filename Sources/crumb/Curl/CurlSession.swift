import CookieModel
import Foundation
import RequestDecoration
import SessionOperations
import SessionStore

/// Runs curl once for each hop, with the cookies for that hop, and takes what each answer sets before the next.
final class CurlSession {
    private let plan: CurlPlan
    private let program: String
    private let jar: CookieJar
    private let console: Console
    private let now: () -> Timestamp
    /// What happened, hop by hop.
    private(set) var reports: [CurlHopReport] = []
    private var fallback: CurlFallback?
    private var authorization: AuthorizationRule?
    private var replayedInput: Int32?
    private var headerFile: Int32?

    init(plan: CurlPlan, program: String, jar: CookieJar, console: Console, now: @escaping () -> Timestamp) {
        self.plan = plan
        self.program = program
        self.jar = jar
        self.console = console
        self.now = now
    }

    /// Makes the requests; the exit status of the last curl.
    func run(_ context: RequestContext) throws -> Int32 {
        defer { [replayedInput, headerFile].forEach { if let descriptor = $0 { close(descriptor) } } }
        fallback = try CurlFallback(jar, plan)
        try openFiles()
        var hop = RedirectChain(context)
        while true {
            if let problem = plan.problem(with: hop) { throw problem }
            let url = hop.context.url
            let signIn = CurlHopRun.SignIn(
                challenge: fallback.map { fallback in { fallback.challenge($0, from: url) } },
                configuration: try authorization?.configuration(for: hop) ?? [])
            let run = try CurlHopRun(plan, hop, cookies: cookieHeader(for: hop), signIn: signIn, console: console)
            var report = CurlHopReport(hop, sent: run.cookies.cookies)
            defer { reports.append(report) }
            let status = try run.curl(program, standardInput: rewoundInput(), headerFile: headerFile) { block in
                report.statuses.append(block.status)
                guard !block.isFromProxy else { return }
                let response = ReceivedResponse(context: hop.context, status: block.status, setCookie: block.setCookie)
                report.add(try self.jar.receive(response, now: self.now()))
            }
            if let challenge = run.challenge, let active = fallback {
                // Once: what the next answer says is for the user, whatever it is.
                fallback = nil
                authorization = try active.answer(challenge, now: now())
                report.fallback = challenge.sign.rawValue
                hop = RedirectChain(context)
                continue
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
            return redirect == nil ? status : 47
        }
    }

    private func cookieHeader(for hop: RedirectChain) throws -> CookieMerge {
        let retrieval = try jar.retrieve(for: hop.context, now: now())
        for exclusion in retrieval.excluded where exclusion.reasons.contains(.unreadable) {
            console.complain("\(exclusion.cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        return CookieMerge(own: plan.cookies(for: hop).map { Octets($0) }, jar: retrieval.included)
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
