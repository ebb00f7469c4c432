public import CookieModel

/// JavaScript that sets cookies through `document.cookie`, and items of `localStorage`, in a web view or a browser: for
/// one page, or for several origins.
///
/// The script runs at document start, in every frame that it is added to. A frame gets only the cookies of its own
/// scheme and host, and the items of its own scheme, host and port. The script compares these with `location` before it
/// uses a value, so a frame of another origin sees nothing.
public struct InjectionScript: Sendable {
    /// When the script sets a cookie or an item of `localStorage`.
    public enum Writing: String, Sendable, CaseIterable {
        /// Once per tab and origin, if the page has none with that name. Later changes and deletions by the page are
        /// respected. The item `crumb` of the tab's `sessionStorage` records this; without `sessionStorage`, this
        /// equals ``missing``.
        case once
        /// Whenever the script runs and the page has none with that name. Restores what a page deleted.
        case missing
        /// Whenever the script runs and the page has another value or none.
        case always
    }

    /// Whether and how the script reports the result for each cookie, as JSON.
    public enum Verification: Sendable, Hashable {
        /// Without a report.
        case none
        /// As the value of the script.
        case value
        /// As a message.
        case message(MessageHandlerName)
    }

    /// A page or frame, and the cookies that its scripts can see.
    public struct Page: Sendable {
        /// The context that the cookies were retrieved for.
        package let context: RequestContext
        /// The cookies for it, retrieved for ``RequestContext/scriptWriting``. With ``RequestContext/scriptAccess``,
        /// the script omits cookies of other paths.
        package let retrieval: Retrieval

        /// Creates a page with its cookies.
        public init(_ retrieval: Retrieval, in context: RequestContext) {
            self.context = context
            self.retrieval = retrieval
        }
    }

    /// Why a script cannot set a cookie that the page would see.
    package enum Obstacle: String, Sendable, CaseIterable {
        /// Name, value or path is not UTF-8, and scripts can set only text.
        case octetsNotUTF8 = "octets-not-utf8"
        /// The path cannot be written as an attribute, and is not the page's own default-path.
        case pathNotWritable = "path-not-writable"
        /// Name or value is not ASCII, which some engines truncate, and no page can see the cookie's path to verify it.
        case octetsNotVerifiable = "octets-not-verifiable"

        /// One sentence for a user.
        package var explanation: String {
            switch self {
            case .octetsNotUTF8: "its octets are not UTF-8, and a script can set only text"
            case .pathNotWritable: "its path contains a semicolon or is too long for a Path attribute"
            case .octetsNotVerifiable: "it is not ASCII, and the page cannot verify it on another path"
            }
        }
    }

    /// A cookie that the script does not set for a page.
    package struct Omission: Sendable {
        /// The cookie.
        package let cookie: Cookie
        /// The page.
        package let page: RequestURL
        /// Stable identifiers of the reasons: those of an ``ExclusionReason``, of a ``RejectionReason`` if a browser
        /// would refuse the cookie from a script, or an ``Obstacle``.
        package let identifiers: [String]
        /// The reasons in words.
        package let explanations: [String]
    }

    /// The script; empty if it would set nothing.
    public let source: String
    /// The cookies it sets, each once, in its order.
    public let cookies: [Cookie]
    /// The ``cookies`` for other paths than those of the pages. The script sets them, but scripts of the pages cannot
    /// verify them.
    package let unverifiable: [Cookie]
    /// The cookies of the pages' sites that it does not set, with the reasons.
    package let omissions: [Omission]
    /// How many items of `localStorage` it sets.
    package let storageItemCount: Int

    /// Creates the script for a page.
    ///
    /// - Parameters:
    ///   - retrieval: the cookies for the page, retrieved for `RequestContext.scriptWriting`.
    ///   - page: The page, which is the one in the address bar.
    ///   - writing: when it sets a cookie.
    ///   - verification: Whether it reports the result for each cookie.
    public init(
        _ retrieval: Retrieval, page: RequestURL, writing: Writing = .once, verification: Verification = .none
    ) {
        self.init(
            [Page(retrieval, in: RequestContext(url: page).scriptWriting)], writing: writing, verification: verification
        )
    }

    /// Creates a script for several pages. Each frame gets the cookies and items of its own origin.
    ///
    /// Pages with the same scheme and host are combined, since cookies are the same at every port. A cookie whose path
    /// one of the pages is at or below waits for a document that sees it; one of another path is set by the first
    /// document of the origin. Linear in the number of cookies of each page.
    ///
    /// - Parameters:
    ///   - pages: the pages with their cookies.
    ///   - storage: the items of `localStorage` of the pages' origins, those of one origin one after the other
    ///     (``SessionStore/CookieJar/webStorage(of:)``).
    ///   - writing: when it sets a cookie.
    ///   - verification: Whether it reports the result for each cookie.
    ///   - policy: the rules of the browser that the script is for.
    public init(
        _ pages: [Page], storage: [WebStorageItem] = [], writing: Writing = .once, verification: Verification = .none,
        policy: CookiePolicy = CookiePolicy(profile: .browser)
    ) {
        var paths: [Origin: [Octets]] = [:]
        for page in pages { paths[Origin(page.context.url), default: []].append(page.context.url.path) }
        var origins: [Origin: OriginSeeds] = [:]
        var order: [Origin] = []
        for page in pages {
            let origin = Origin(page.context.url)
            if origins[origin] == nil {
                order.append(origin)
                origins[origin] = OriginSeeds(paths: paths[origin] ?? [], labelled: verification != .none)
            }
            origins[origin]?.add(page, policy: policy)
        }
        var cookies: [Cookie] = []
        var omissions: [Omission] = []
        var known: Set<Cookie.ID> = []
        for origin in order {
            guard let seeds = origins[origin] else { continue }
            if pages.count == 1 {
                cookies = seeds.cookies
            } else {
                // One origin has each cookie once, but for partitions under several pages.
                for cookie in seeds.cookies where known.insert(cookie.id).inserted { cookies.append(cookie) }
            }
            omissions += seeds.remainingOmissions
        }
        self.cookies = cookies
        let unseen = order.flatMap { origins[$0]?.unseen ?? [] }
        unverifiable = order.count == 1 || unseen.isEmpty ? unseen : InjectionScript.unseen(unseen, by: origins.values)
        self.omissions = omissions
        let sections = order.compactMap { origin in
            origins[origin].flatMap { $0.cookies.isEmpty ? nil : (origin, $0) }
        }
        storageItemCount = storage.count
        source =
            sections.isEmpty && storage.isEmpty
            ? "" : InjectionScript.source(sections, storage, writing: writing, verification: verification)
    }
}

extension InjectionScript {
    /// The cookies of several origins that no page of any of them sees, each once.
    private static func unseen(
        _ unseen: [Cookie], by origins: some Sequence<OriginSeeds>
    ) -> [Cookie] {
        var known: Set<Cookie.ID> = []
        for origin in origins {
            let own = Set(origin.unseen.map(\.id))
            known.formUnion(origin.cookies.lazy.map(\.id).filter { !own.contains($0) })
        }
        return unseen.filter { known.insert($0.id).inserted }
    }
}

extension InjectionScript: ValueHiding {
    /// The numbers of cookies and items, without the source, which contains their values.
    public var description: String {
        "InjectionScript (cookies: \(cookies.count), localStorage items: \(storageItemCount), source hidden)"
    }
}

extension InjectionScript.Obstacle: DescribedError {
    /// The ``explanation``.
    package var description: String { explanation }
}

extension InjectionScript {
    private static let template = ScriptTemplate(PackageResources.InjectionScript_js)

    /// The script that sets the seeds and the items of web storage of each origin.
    static func source(
        _ sections: [(origin: Origin, seeds: OriginSeeds)], _ storage: [WebStorageItem], writing: Writing,
        verification: Verification
    ) -> String {
        let handler: String
        if case .message(let name) = verification {
            handler = JavaScript.stringLiteral(name.description)
        } else {
            handler = "null"
        }
        let verifies = verification != .none
        let parameters = "var mode = \"\(writing.rawValue)\", verifies = \(verifies), handler = \(handler);"
        return template.source([
            "parameters": Array(parameters.utf8), "cookies": cookiesFunction(sections).octets,
            "items": itemsFunction(storage).octets,
        ])
    }

    /// The function that gives a frame its own cookies, and creates no object of any other's. On one line, so that no
    /// place in a stack, which a page can read, depends on how many there are.
    private static func cookiesFunction(_ sections: [(origin: Origin, seeds: OriginSeeds)]) -> JavaScript {
        var script = JavaScript()
        script.octets.reserveCapacity(sections.reduce(256) { $0 + $1.seeds.objects.octets.count + 256 })
        script.write("function cookiesFor(protocol, host) {")
        for (origin, seeds) in sections {
            script.writeBranch(for: origin.scheme, origin.host)
            script.write(seeds.objects.octets)
            script.write("];")
        }
        script.write(" return []; }")
        return script
    }

    /// The function that gives a frame the items of its own origin: their mark, then keys and values in turn. On one line,
    /// as the cookies are.
    private static func itemsFunction(_ storage: [WebStorageItem]) -> JavaScript {
        var script = JavaScript()
        script.octets.reserveCapacity(storage.reduce(256) { $0 + $1.octetCount + 8 })
        script.write("function itemsFor(protocol, host) {")
        for items in runs(storage) {
            let origin = items.first?.origin ?? ""
            guard let end = origin.firstRange(of: "://") else { continue }
            script.writeBranch(for: Octets("\(origin[..<end.lowerBound]):"), Octets(String(origin[end.upperBound...])))
            script.write("\"")
            let texts = items.flatMap { [$0.key, $0.value] }
            var mark = CookieMark()
            for text in texts { mark.add(text) }
            mark.write(to: &script)
            script.write("\"")
            for text in texts {
                script.write(",")
                script.writeLiteral(text)
            }
            script.write("];")
        }
        script.write(" return []; }")
        return script
    }

    /// The items of each origin. They are adjacent in `storage`.
    private static func runs(_ storage: [WebStorageItem]) -> [ArraySlice<WebStorageItem>] {
        var runs: [ArraySlice<WebStorageItem>] = []
        var start = storage.startIndex
        for index in storage.indices
        where index + 1 == storage.endIndex || storage[index + 1].origin != storage[index].origin {
            runs.append(storage[start...index])
            start = index + 1
        }
        return runs
    }
}

extension JavaScript {
    /// Writes the beginning of what a frame of that scheme and host gets.
    fileprivate mutating func writeBranch(for scheme: Octets, _ host: Octets) {
        write(" if (protocol === ")
        writeLiteral(scheme)
        write(" && host === ")
        writeLiteral(host)
        write(") return [")
    }
}
