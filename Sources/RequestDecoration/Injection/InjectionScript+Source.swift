internal import CookieModel

extension InjectionScript {
    /// The script that sets the seeds of each origin.
    static func source(
        _ sections: [(origin: Origin, seeds: [Seed])], writing: Writing, verification: Verification
    ) -> String {
        let handler: String
        if case .message(let name) = verification {
            handler = JavaScript.stringLiteral(name.description)
        } else {
            handler = "null"
        }
        let verifies = verification != .none
        return ScriptTemplate(PackageResources.InjectionScript_js).source([
            "parameters": "var mode = \"\(writing.rawValue)\", verifies = \(verifies), handler = \(handler);",
            "cookies": cookiesFunction(sections, labelled: verifies),
        ])
    }

    /// The function that gives a frame its own cookies, and creates no object of any other's. On one line, so that no
    /// place in a stack, which a page can read, depends on how many there are.
    private static func cookiesFunction(_ sections: [(origin: Origin, seeds: [Seed])], labelled: Bool) -> String {
        var text = "function cookiesFor(protocol, host) {"
        for (origin, seeds) in sections {
            let (name, host) = (JavaScript.stringLiteral(origin.protocol), JavaScript.stringLiteral(origin.host))
            let objects = seeds.map { object($0, labelled: labelled) }.joined(separator: ", ")
            text += " if (protocol === \(name) && host === \(host)) return [\(objects)];"
        }
        return text + " return []; }"
    }

    /// Every property is there in every object, so that none is looked up on a prototype, which a page can change.
    private static func object(_ seed: Seed, labelled: Bool) -> String {
        var parts = [
            ("name", JavaScript.stringLiteral(seed.name)), ("value", JavaScript.stringLiteral(seed.value)),
            ("path", JavaScript.stringLiteral(seed.path)), ("attributes", JavaScript.stringLiteral(seed.attributes)),
            ("expires", seed.cookie.expiry.map { "\($0.seconds * 1000)" } ?? "null"),
            ("ownPath", "\(seed.hasOwnPath)"), ("top", seed.top.map(JavaScript.stringLiteral) ?? "null"),
            ("mark", JavaScript.stringLiteral(seed.mark)), ("state", "\"\""),
        ]
        if labelled { parts.append(("label", JavaScript.stringLiteral(label(seed)))) }
        return "{" + parts.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
    }

    /// The beginning of the cookie's entry in a report: JSON, which the literals of this module are as well.
    private static func label(_ seed: Seed) -> String {
        let domain = (seed.cookie.isHostOnly ? "" : ".") + seed.cookie.domain.description
        return "{\"name\":\(JavaScript.stringLiteral(seed.name)),\"domain\":\(JavaScript.stringLiteral(domain)),"
            + "\"path\":\(JavaScript.stringLiteral(seed.path))"
    }
}
