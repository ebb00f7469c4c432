import CookieModel
import GatewayModel
import HTTPCaching
import PublicSuffix

/// Loads pages with their resources through a gateway, which stores the responses.
///
/// It requests what a page's HTML and its stylesheets name, and runs no script. The cookies of the requests are the
/// gateway's: only the cookies by which it knows the browser are here.
final class CacheWarmer {
    /// How much is loaded.
    struct Limits {
        /// How many resources may be between a resource and its page.
        var depth = 4
        /// How many requests are made.
        var requests = 1000
        /// How many octets are loaded.
        var octets = 512 << 20
        /// How many octets a response may have that the cache stores.
        var bodySize = Int.max
    }

    /// How many requests are made at the same time, as browsers do for one host.
    private static let width = 6
    private static let redirectLimit = 20

    private let transport: any PageTransport
    private let limits: Limits
    /// What sends the requests.
    private let client: GatewaySettings.Client
    private let rules: CachingRules
    private let suffixes: PublicSuffixList
    /// Whether the gateway reads https requests to a host.
    private let decrypts: (WebHost) -> Bool
    private let clock: CommandClock

    private var cookies: CookieStore
    private(set) var report = CacheWarmReport()
    private var requests = 0
    private var octets = 0

    init(
        over transport: any PageTransport, limits: Limits, client: GatewaySettings.Client = .browser,
        rules: CachingRules, suffixes: PublicSuffixList, clock: @escaping CommandClock,
        decrypts: @escaping (WebHost) -> Bool
    ) {
        self.transport = transport
        self.limits = limits
        self.client = client
        self.rules = rules
        self.suffixes = suffixes
        self.decrypts = decrypts
        self.clock = clock
        var policy = CookiePolicy(profile: .browser)
        policy.publicSuffixes = suffixes
        policy.keepsWitnesses = true
        cookies = CookieStore(policy: policy)
    }

    /// The steps of one page.
    private struct Load {
        /// Those that come first, the last one before the others.
        var urgent: [PageStep] = []
        /// The others in their order, up to `next` taken already.
        var steps: [PageStep] = []
        var next = 0
        /// What was requested, or will be.
        var known: Set<RequestURL> = []

        /// How many steps wait.
        var count: Int { urgent.count + steps.count - next }

        mutating func takeFirst() -> PageStep? {
            if let step = urgent.popLast() { return step }
            guard next < steps.count else { return nil }
            next += 1
            return steps[next - 1]
        }
    }

    /// Loads a page with its resources.
    ///
    /// - Parameter progressed: Gets the report after each response, and how many requests wait.
    func load(
        _ page: RequestURL, progressed: (CacheWarmReport, _ waiting: Int) -> Void = { _, _ in }
    ) async {
        var load = Load()
        load.known.insert(page)
        load.urgent = [PageStep(url: page, link: PageLink([], .document), page: nil, referrer: nil, depth: 0)]
        await withTaskGroup(of: (PageStep, Result<PageResponse, any Error>).self) { group in
            var running = 0
            while true {
                while running < CacheWarmer.width, let step = load.takeFirst() {
                    guard let request = request(for: step) else { continue }
                    running += 1
                    group.addTask { [transport] in
                        do { return (step, .success(try await transport.get(request))) } catch {
                            return (step, .failure(error))
                        }
                    }
                }
                guard running > 0, let (step, result) = await group.next() else { break }
                running -= 1
                switch result {
                case .success(let response): take(response, to: step, &load)
                case .failure(let error):
                    add(.init(step.url, .failed, destination: step.link.destination, reason: "\(error)"), of: step)
                }
                progressed(report, load.count + running)
            }
        }
    }

    /// The request of a step; `nil` if it is not made.
    private func request(for step: PageStep) -> PageRequest? {
        guard requests < limits.requests, octets < limits.octets else {
            report.leftOut += 1
            return nil
        }
        guard !step.url.scheme.isCryptographic || decrypts(step.url.host) else {
            add(.init(step.url, .notDecrypted, destination: step.link.destination), of: step)
            return nil
        }
        requests += 1
        let pairs = step.hasCookies ? cookies.cookieString(for: step.context, now: clock()) : []
        return PageRequest(
            url: step.url, fields: client == .tool ? step.fieldsOfProgram : step.fields(cookies: pairs, suffixes),
            limit: limits.octets - octets,
            wantsContent: [.document, .style].contains(step.link.destination))
    }

    private func take(_ response: PageResponse, to step: PageStep, _ load: inout Load) {
        octets += response.octets
        if step.hasCookies {
            let lines = response.values("set-cookie").map { Octets($0) }
            cookies.receive(
                ReceivedResponse(context: step.context, status: response.status, setCookie: lines), now: clock())
        }
        if !step.isReadableCopy { note(response, to: step) }
        if let next = redirect(response, of: step) {
            load.known.insert(next.url)
            load.urgent.append(next)
        }
        guard (200...299).contains(response.status), [.document, .style].contains(step.link.destination) else { return }
        guard let content = response.content else {
            // With another coding, the response is another one, which must not take the place of this one.
            if response.members("vary").contains("accept-encoding"), !step.isReadableCopy {
                var copy = step
                copy.isReadableCopy = true
                load.urgent.append(copy)
            } else {
                report.unread += 1
            }
            return
        }
        add(links(in: content, response, of: step), of: step, to: &load)
    }

    /// Notes what became of a response.
    private func note(_ response: PageResponse, to step: PageStep) {
        if let reason = response.gatewayFailure {
            add(.init(step.url, .failed, destination: step.link.destination, reason: reason), of: step)
            return
        }
        // The gateway is the last cache before the client.
        let member = response.values("cache-status").last { $0.hasPrefix("crumb;") }
        let outcome = CacheWarmReport.Outcome(status: member)
        var entry = CacheWarmReport.Response(
            step.url, outcome, destination: step.link.destination, status: response.status, octets: response.octets,
            cacheStatus: member)
        entry.target = step.url
        if outcome == .notStored {
            let obstacle = member == nil ? "the cache takes no part in it" : obstacle(response, of: step)
            entry.reason = obstacle ?? "the cache could not store it"
            entry.isLost = obstacle == nil
        }
        add(entry, of: step)
    }

    /// Adds a response to the report.
    private func add(_ response: CacheWarmReport.Response, of step: PageStep) {
        guard step.page == nil else { return report.responses.append(response) }
        report.append(response, to: step.redirects.first ?? step.url, isRedirected: !step.redirects.isEmpty)
    }

    /// Why a response must not be stored; `nil` if it may be.
    private func obstacle(_ response: PageResponse, of step: PageStep) -> String? {
        let fields = response.fields.map { MessageFields.Field(Octets($0.name), Octets($0.value)) }
        let now = clock()
        let decision = CachingPolicy(rules: rules).storing(
            OriginResponse(
                status: response.status, fields: MessageFields(fields), requestTime: now, responseTime: now),
            for: CacheRequest(url: step.url))
        if let obstacle = decision.obstacles.first { return obstacle.explanation }
        if response.octets > limits.bodySize {
            return "it has \(response.octets) octets, and the cache stores at most \(limits.bodySize) of a response "
                + "(--cache)"
        }
        return response.members("vary").contains("authorization") ? "it depends on a login" : nil
    }

    private func redirect(_ response: PageResponse, of step: PageStep) -> PageStep? {
        guard [301, 302, 303, 307, 308].contains(response.status), step.redirects.count < CacheWarmer.redirectLimit,
            let location = response.values("location").first,
            let target = try? step.url.resolving(Octets(location))
        else { return nil }
        var next = step
        next.redirects.append(step.url)
        next.url = target
        return next
    }

    // MARK: - Links

    private func links(in content: [UInt8], _ response: PageResponse, of step: PageStep) -> (
        PageLinks, base: RequestURL
    ) {
        guard step.link.destination == .document else { return (PageLinks(css: content), step.url) }
        guard response.values("content-type").first?.lowercased().hasPrefix("text/html") == true else {
            return (PageLinks(css: []), step.url)
        }
        var found = PageLinks(html: content)
        found.addUsualIcon()
        return (found, found.base.flatMap { try? step.url.resolving($0) } ?? step.url)
    }

    private func add(_ found: (links: PageLinks, base: RequestURL), of step: PageStep, to load: inout Load) {
        let page = step.page ?? step.url
        for link in found.links.links {
            guard let url = try? found.base.resolving(link.reference), !["ws", "wss"].contains(url.scheme.name),
                // A browser loads nothing over http into a page that came over https.
                url.scheme.isCryptographic || !page.scheme.isCryptographic,
                load.known.insert(url).inserted
            else { continue }
            guard step.depth < limits.depth else {
                report.leftOut += 1
                continue
            }
            load.steps.append(
                PageStep(url: url, link: link, page: page, referrer: step.url, depth: step.depth + 1))
        }
    }
}
