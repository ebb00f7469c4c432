public import CookieModel
public import PublicSuffix
public import WebPrimitives

/// A sequence of responses, requests and passing time, run on its own cookie store.
public struct Scenario: Sendable {
    /// One step.
    public enum Step: Sendable {
        /// A response arrives, or a script sets cookies.
        case receive(ReceivedResponse)
        /// A request goes out, or a script reads.
        case send(RequestContext)
        /// Time passes.
        case advance(microseconds: Int64)
        /// The browser quits.
        case endSession
    }

    /// The result of one step.
    public enum StepResult: Sendable {
        /// The decision on each line received, in order.
        case decisions([StorageDecision])
        /// The cookies that were sent or shown.
        case retrieval(Retrieval)
        /// No result.
        case none
    }

    /// The clock at the first step; `nil` for the real time.
    public var now: Timestamp?
    /// The divergences that apply.
    public var profile = CookieProfile.rfc6265bis
    /// The limits that apply; `nil` for those of the profile.
    public var limits: CookieLimits?
    /// `CookiePolicy.laxAllowingUnsafeAge` in seconds.
    public var laxAllowingUnsafeAge: Int64 = 0
    /// `CookiePolicy.considersRedirectChain`.
    public var considersRedirectChain = false
    /// The steps, in order.
    public var steps: [Step]

    /// Creates a scenario from its steps.
    public init(now: Timestamp? = nil, profile: CookieProfile = .rfc6265bis, steps: [Step]) {
        self.now = now
        self.profile = profile
        self.steps = steps
    }

    /// Runs the steps on an empty store and returns the result of each.
    ///
    /// - Parameters:
    ///   - realTime: The time if the scenario has none.
    ///   - publicSuffixes: the public suffix list.
    public func run(realTime: Timestamp, publicSuffixes: PublicSuffixList = .bundled) -> [StepResult] {
        run(realTime: realTime, publicSuffixes: publicSuffixes, verdictLimit: .max) ?? []
    }

    /// The same within a limit.
    ///
    /// - Parameter verdictLimit: how many cookies all requests may ask about together.
    /// - Returns: `nil` if it takes more.
    func run(realTime: Timestamp, publicSuffixes: PublicSuffixList, verdictLimit: Int) -> [StepResult]? {
        var policy = CookiePolicy(profile: profile)
        policy.publicSuffixes = publicSuffixes
        if let limits { policy.limits = limits }
        policy.laxAllowingUnsafeAge = laxAllowingUnsafeAge
        policy.considersRedirectChain = considersRedirectChain
        var store = CookieStore(policy: policy)
        var clock = now ?? realTime
        var results: [StepResult] = []
        results.reserveCapacity(steps.count)
        var verdictCount = 0
        for step in steps {
            switch step {
            case .receive(let response):
                results.append(.decisions(store.receive(response, now: clock)))
            case .send(let context):
                let retrieval = store.retrieve(for: context, now: clock)
                verdictCount += retrieval.included.count + retrieval.excluded.count
                guard verdictCount <= verdictLimit else { return nil }
                results.append(.retrieval(retrieval))
            case .advance(let microseconds):
                let (sum, overflow) = clock.microseconds.addingReportingOverflow(microseconds)
                clock = overflow ? (microseconds < 0 ? .distantPast : .distantFuture) : Timestamp(microseconds: sum)
                results.append(.none)
            case .endSession:
                store.endSession()
                results.append(.none)
            }
        }
        return results
    }
}

/// A scenario's name: a text, a number, true or false, returned as it came.
enum ScenarioID: Codable {
    case text(String)
    case integer(Int)
    case decimal(Double)
    case flag(Bool)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .decimal(number)
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .decimal(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        }
    }
}
