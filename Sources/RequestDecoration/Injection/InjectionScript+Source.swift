internal import CookieModel

extension InjectionScript {
    private static let template = ScriptTemplate(PackageResources.InjectionScript_js)

    /// The script that sets the seeds of each origin.
    static func source(
        _ sections: [(origin: Origin, seeds: OriginSeeds)], writing: Writing, verification: Verification
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
        ])
    }

    /// The function that gives a frame its own cookies, and creates no object of any other's. On one line, so that no
    /// place in a stack, which a page can read, depends on how many there are.
    private static func cookiesFunction(_ sections: [(origin: Origin, seeds: OriginSeeds)]) -> JavaScript {
        var script = JavaScript()
        script.reserve(sections.reduce(256) { $0 + $1.seeds.objects.octets.count + 256 })
        script.write("function cookiesFor(protocol, host) {")
        for (origin, seeds) in sections {
            script.write(" if (protocol === ")
            script.writeLiteral(origin.scheme)
            script.write(" && host === ")
            script.writeLiteral(origin.host)
            script.write(") return [")
            script.write(seeds.objects.octets)
            script.write("];")
        }
        script.write(" return []; }")
        return script
    }
}
