import CookieModel
import Platform
import RequestDecoration
import SessionOperations

/// Runs curl once for each hop, with the cookies for that hop, and stores the cookies of each response before the next
/// hop.
final class CurlSession {
    private let plan: CurlPlan
    private let program: String
    private let jar: any CurlJar
    private let console: Console
    /// The reports, one for each hop.
    private(set) var reports: [CurlHopReport] = []
    private var replayedInput: Int32?
    private var headerFile: Int32?
    /// Why a request was not made once more, and why no token was obtained: printed after the output.
    private var warnings: [String] = []
    private var failure: (any Error)?

    init(plan: CurlPlan, program: String, jar: any CurlJar, console: Console) {
        self.plan = plan
        self.program = program
        self.jar = jar
        self.console = console
    }

    /// Makes the requests; the exit status of the last curl.
    func run(_ context: RequestContext) throws -> Int32 {
        defer { [replayedInput, headerFile].forEach { if let descriptor = $0 { close(descriptor) } } }
        try openFiles()
        var hop = RedirectChain(context)
        /// Whether this hop was made before, without the nonce that its server wanted.
        var isRepeated = false
        while true {
            if let problem = plan.problem(with: hop) { throw problem }
            let decoration = try jar.decoration(of: hop, isRepeated: isRepeated)
            let run = CurlHopRun(plan, hop, jar, decoration, console)
            var report = CurlHopReport(hop, decoration)
            defer { reports.append(report) }
            if let replayedInput { lseek(replayedInput, 0, SEEK_SET) }
            let status = try run.curl(program, standardInput: replayedInput, headerFile: headerFile) { block in
                report.statuses.append(block.status)
                guard !block.isFromProxy else { return }
                report.noteResponse()
                report.add(try self.jar.receive(block, to: hop), of: block.setCookie)
            }
            report.noteEnd(status)
            switch run.repetition {
            case .notSignedIn(let sign):
                do {
                    try jar.signIn()
                } catch {
                    // The site's answer is the last one, then.
                    try run.finishUnrepeated(headerFile: headerFile)
                    throw error
                }
                report.fallback = sign
                if !hop.hasActed { hop = RedirectChain(context) }
                isRepeated = false
                continue
            case .nonceWanted:
                isRepeated = true
                continue
            case nil:
                isRepeated = false
                renewSession(after: hop)
            }
            let redirect = run.redirect(endedWith: status)
            if let redirect, hop.number <= plan.redirectLimit,
                let next = try hop.following(redirect, keptPosts: plan.keptPosts)
            {
                // curl's message about a redirect that is followed is not needed here.
                hop = next
                continue
            }
            try run.finish(isTooMany: redirect != nil, limit: plan.redirectLimit)
            warnings.forEach { console.error($0) }
            if let failure = failure ?? jar.failure { throw failure }
            return redirect == nil ? status : 47
        }
    }

    /// Signs in for the next request, if the last response says "not signed in" and the request must not be sent again.
    private func renewSession(after hop: RedirectChain) {
        guard let refusal = jar.refusal else { return }
        do {
            try jar.signIn()
            warnings.append(
                refusal.message(
                    for: hop.context.url.withoutQuery.description, hop.context.method,
                    bodyReason: "its body can be read only once; pass it as a file or on standard input"))
        } catch {
            failure = failure ?? error
        }
    }

    private func openFiles() throws {
        if plan.follows || jar.mayRepeatRequests, plan.options.contains(where: \.readsStandardInput) {
            replayedInput = try RequestBody.bufferedStandardInput()
        }
        switch plan.headerDump {
        case .file(let name):
            // Its Set-Cookie lines are for the user alone.
            let path = name.map { CChar(bitPattern: $0) } + [0]
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                let shown = String(decoding: name, as: UTF8.self)
                throw CommandFailure(.outputFailed, "\(shown): cannot be written: \(SystemError.last.message)")
            }
            headerFile = descriptor
        case .standardOutput:
            headerFile = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100)
        case nil:
            break
        }
    }
}

extension RedirectChain {
    /// The chain after a response that curl would follow; `nil` if it would not.
    ///
    /// - Parameter keptPosts: the statuses for which the user wants a POST to stay one.
    func following(_ response: ResponseHead, keptPosts: Set<Int>) throws -> RedirectChain? {
        guard (300...399).contains(response.status), let location = response.location else { return nil }
        // curl follows every 3xx with a Location. Those that the Fetch Standard knows no redirect in change nothing
        // about the request, like 307.
        let changesMethod = [301, 302, 303].contains(response.status)
        let keepsMethod = !changesMethod || (context.method == "POST" && keptPosts.contains(response.status))
        // The query may contain an authorization code.
        let shown = Octets(Array(location.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
        let found: Redirect?
        do throws(RequestURLError) {
            found = try Redirect(
                status: keepsMethod ? 307 : response.status, location: location, url: context.url,
                method: context.method)
        } catch {
            throw CommandFailure(
                .redirectInvalid, "\(context.url.origin) redirects to '\(shown)': \(error.description)")
        }
        guard let redirect = found else { return nil }
        var next = self
        next.advance(to: redirect)
        return next
    }
}
