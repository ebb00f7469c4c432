import CookieModel

/// The evidence from earlier entries of a capture for later ones: the page in the address bar, the documents framed in
/// it, and the redirects.
///
/// The memory is bounded. A forgotten fact becomes unknown, never wrong.
struct PageTrail: Sendable {
    /// How many pages, documents and redirects are remembered.
    private static let limit = 10_000
    /// How many redirects one chain has at most.
    private static let redirectLimit = 20

    private struct Page {
        var url: String
        var frameID: String?
    }

    private struct Chain {
        var urls: [String]
        var destination: RequestEvidence.Destination?
    }

    /// The page in the address bar, by the recorder's name for it.
    private var pages: [String: Page] = [:]
    /// The page in the address bar for each origin that a document was loaded from.
    private var documents: [String: String] = [:]
    /// The chains of redirects, by the URL that they lead to.
    private var chains: [String: Chain] = [:]

    /// How much is remembered, for the tests of bounded memory.
    var rememberedCount: Int { pages.count + documents.count + chains.count }

    /// Completes a response's evidence with that of earlier entries, and remembers its own for later ones.
    mutating func follow(_ response: inout CapturedResponse) {
        var evidence = response.evidence
        guard evidence != RequestEvidence() else { return }
        let chain = chains.isEmpty ? nil : chains.removeValue(forKey: response.url)
        if let chain, evidence.redirects.isEmpty { evidence.redirects = chain.urls }
        evidence.destination = destination(evidence, of: response.url, after: chain)
        setPage(of: response.url, &evidence)
        if let location = evidence.location, (300...399).contains(response.status),
            let url = try? RequestURL(response.url), let target = try? url.resolving(location),
            evidence.redirects.count < Self.redirectLimit, chains.count < Self.limit
        {
            chains[target.description] = Chain(
                urls: evidence.redirects + [response.url], destination: evidence.destination)
        }
        response.evidence = evidence
    }

    /// The destination that the response is loaded into, for a request that does not contain it itself.
    private func destination(
        _ evidence: RequestEvidence, of url: String, after chain: Chain?
    ) -> RequestEvidence.Destination? {
        if let known = evidence.destination ?? chain?.destination { return known }
        // The recorder's partition is better evidence than the rest.
        if evidence.partitionKey != nil { return nil }
        let page = evidence.pageID.flatMap { pages[$0] }
        if evidence.isDocument || evidence.accepts == .document {
            if let frame = evidence.frameID, let main = page?.frameID { return frame == main ? .page : .frame }
            if url == evidence.page { return .page }
            guard let current = page?.url ?? evidence.page else {
                // A page's first document is the page itself; elsewhere a link may lead to one, too.
                return evidence.pageID != nil || evidence.referrer == nil ? .page : nil
            }
            return evidence.referrer == nil || Self.origin(url) == Self.origin(current) ? .page : .frame
        }
        if evidence.pageID != nil {
            // Without request headers, a page's first entry is the page.
            if evidence.accepts == nil, page == nil, evidence.page == nil || evidence.page == url { return .page }
            return page == nil && evidence.page == nil ? nil : .subresource
        }
        let isWithinPage = evidence.referrer != nil || evidence.origin != nil
        return evidence.isFromBrowser && evidence.accepts == .other && isWithinPage ? .subresource : nil
    }

    /// Finds the page in the address bar, and remembers it with the documents in it.
    private mutating func setPage(of url: String, _ evidence: inout RequestEvidence) {
        guard let destination = evidence.destination else { return }
        if destination == .page {
            evidence.page = nil
            if let id = evidence.pageID, pages[id] != nil || pages.count < Self.limit {
                pages[id] = Page(url: url, frameID: evidence.frameID)
            }
            remember(url, in: url)
            return
        }
        if let page = evidence.pageID.flatMap({ pages[$0]?.url }) {
            evidence.page = page
        } else if evidence.page == nil, let source = evidence.referrer ?? evidence.origin ?? evidence.initiator {
            let known = Self.origin(source).flatMap { documents[$0] }
            evidence.page = known ?? source
            evidence.isPageInferred = known == nil
        }
        if destination == .frame, let page = evidence.page { remember(url, in: page) }
    }

    /// Remembers that a document of `url`'s origin belongs to `page`.
    private mutating func remember(_ url: String, in page: String) {
        guard let origin = Self.origin(url), documents[origin] != nil || documents.count < Self.limit else { return }
        documents[origin] = page
    }

    private static func origin(_ url: String) -> String? {
        (try? RequestURL(url))?.origin
    }
}
