import CookieModel

/// A resource that a page or a stylesheet names, and how a browser requests it.
struct PageLink: Hashable {
    /// What it is for: the values of `Sec-Fetch-Dest`.
    enum Destination: String {
        case document, script, style, image, font, manifest
        /// Data of a script.
        case empty
    }

    /// Which cookies and credentials the request has.
    enum Credentials {
        case include, sameOrigin, omit
    }

    /// The reference, as the page has it.
    let reference: Octets
    let destination: Destination
    /// Whether it is requested by the rules of CORS.
    var isCORS = false
    var credentials = Credentials.include

    /// A link with the way of its request.
    ///
    /// - Parameters:
    ///   - crossorigin: The attribute of that name; `nil` without one.
    ///   - isModule: Whether it is a script of a module.
    init(
        _ reference: Octets, _ destination: Destination, crossorigin: Octets? = nil, isModule: Bool = false
    ) {
        self.reference = reference
        self.destination = destination
        isCORS = crossorigin != nil || isModule || destination == .font || destination == .manifest
        let usesCredentials = crossorigin?.lowercased == "use-credentials"
        if isCORS, !usesCredentials { credentials = destination == .manifest ? .omit : .sameOrigin }
    }
}

/// What a page or a stylesheet names. The work is linear in its length.
struct PageLinks {
    /// The links in their order.
    private(set) var links: [PageLink] = []
    /// The reference of the `base` element; `nil` without one.
    private(set) var base: Octets?
    /// Whether a link is the icon of the page.
    private(set) var hasIcon = false
    /// How many octets were looked at: the work.
    private(set) var steps = 0

    /// The links of a stylesheet.
    init(css: [UInt8]) {
        addStyle(css[...])
    }

    /// The links of an HTML page, for a browser that runs scripts.
    init(html: [UInt8]) {
        var scanner = LinkScanner(html[...])
        while let octet = scanner.pass() {
            guard octet == UInt8(ascii: "<") else { continue }
            if scanner.pass("!--") {
                // `<!-->` is a comment, too.
                scanner.pass(through: "-->", back: 2)
            } else if let next = scanner.next, ASCII.isLetter(next) {
                let tag = HTMLTag(&scanner)
                add(tag)
                guard HTMLTag.textElements.contains(tag.name) else { continue }
                let text = scanner.passText(ofElement: tag.name)
                if tag.name == "style" { addStyle(text) }
            } else if scanner.next.map({ [ASCII.slash, UInt8(ascii: "!"), ASCII.questionMark].contains($0) }) == true {
                scanner.pass(through: ">")
            }
        }
        steps += scanner.steps
    }

    /// Adds the icon that a browser requests of a page that names none.
    mutating func addUsualIcon() {
        if !hasIcon { links.append(PageLink("/favicon.ico", .image)) }
    }

    private mutating func addStyle(_ css: ArraySlice<UInt8>) {
        var style = StyleLinks(css)
        links += style.all()
        steps += style.steps
    }

    private mutating func add(_ tag: HTMLTag) {
        if let style = tag["style"] { addStyle(style.bytes[...]) }
        switch tag.name {
        case "base": base = base ?? tag["href"]
        case "script": addScript(tag)
        case "link": addLink(tag)
        case "img":
            add(tag, "src", .image)
            addCandidates(tag, "srcset")
        case "source": addCandidates(tag, "srcset")
        case "video": add(tag, "poster", .image)
        case "input": if tag["type"]?.lowercased == "image" { add(tag, "src", .image) }
        default: break
        }
    }

    private mutating func add(_ tag: HTMLTag, _ attribute: Octets, _ destination: PageLink.Destination) {
        guard let reference = tag[attribute], !reference.trimmingBlanks.isEmpty else { return }
        links.append(PageLink(reference, destination, crossorigin: tag["crossorigin"]))
    }

    /// The types of scripts that browsers run.
    private static let scriptTypes: Set<Octets> = [
        "", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript",
        "application/x-javascript",
    ]

    private mutating func addScript(_ tag: HTMLTag) {
        let type = tag["type"]?.trimmingBlanks.lowercased ?? ""
        // What has `nomodule` is for browsers without modules.
        guard PageLinks.scriptTypes.contains(type), tag["nomodule"] == nil || type == "module",
            let source = tag["src"], !source.trimmingBlanks.isEmpty
        else { return }
        links.append(PageLink(source, .script, crossorigin: tag["crossorigin"], isModule: type == "module"))
    }

    /// What is loaded in advance, by the values of `as`.
    private static let preloads: [Octets: PageLink.Destination] = [
        "script": .script, "style": .style, "image": .image, "font": .font, "fetch": .empty,
    ]

    private mutating func addLink(_ tag: HTMLTag) {
        let relations = Set(
            (tag["rel"] ?? "").lowercased.split(whereSeparator: ASCII.isWhiteSpace).map { Octets(Array($0)) })
        guard let reference = tag["href"], !reference.trimmingBlanks.isEmpty else {
            if relations.contains("preload"), tag["as"]?.lowercased == "image" { addCandidates(tag, "imagesrcset") }
            return
        }
        let crossorigin = tag["crossorigin"]
        if relations.contains("stylesheet"), !relations.contains("alternate") {
            links.append(PageLink(reference, .style, crossorigin: crossorigin))
        } else if relations.contains("icon") {
            hasIcon = true
            links.append(PageLink(reference, .image, crossorigin: crossorigin))
        } else if relations.contains("manifest") {
            links.append(PageLink(reference, .manifest, crossorigin: crossorigin))
        } else if relations.contains("modulepreload") {
            links.append(PageLink(reference, .script, crossorigin: crossorigin, isModule: true))
        } else if relations.contains("preload"), let destination = PageLinks.preloads[tag["as"]?.lowercased ?? ""] {
            links.append(PageLink(reference, destination, crossorigin: crossorigin))
            if destination == .image { addCandidates(tag, "imagesrcset") }
        }
    }

    /// All images that a browser may choose from.
    private mutating func addCandidates(_ tag: HTMLTag, _ attribute: Octets) {
        guard let set = tag[attribute] else { return }
        var scanner = LinkScanner(set.bytes[...])
        while scanner.next != nil {
            scanner.pass { ASCII.isWhiteSpace($0) || $0 == ASCII.comma }
            var reference = scanner.pass { !ASCII.isWhiteSpace($0) }
            let isLast = reference.last == ASCII.comma
            while reference.last == ASCII.comma { reference.removeLast() }
            if !reference.isEmpty {
                links.append(PageLink(Octets(Array(reference)), .image, crossorigin: tag["crossorigin"]))
            }
            // What follows describes the image.
            if !isLast { scanner.pass { $0 != ASCII.comma } }
        }
        steps += scanner.steps
    }
}
