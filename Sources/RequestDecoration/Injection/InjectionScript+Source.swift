internal import CookieModel

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

    /// The function that gives a frame the items of its own origin: their mark, then keys and values in turn. On one line,
    /// as the cookies are.
    private static func itemsFunction(_ storage: [WebStorageItem]) -> JavaScript {
        var script = JavaScript()
        script.reserve(storage.reduce(256) { $0 + $1.octetCount + 8 })
        script.write("function itemsFor(protocol, host) {")
        for items in runs(storage) {
            let origin = items.first?.origin ?? ""
            guard let end = origin.firstRange(of: "://") else { continue }
            script.write(" if (protocol === ")
            script.writeLiteral(Octets("\(origin[..<end.lowerBound]):"))
            script.write(" && host === ")
            script.writeLiteral(Octets(String(origin[end.upperBound...])))
            script.write(") return [\"")
            CookieMark(items).write(to: &script)
            script.write("\"")
            for item in items {
                for text in [item.key, item.value] {
                    script.write(",")
                    script.writeLiteral(text)
                }
            }
            script.write("];")
        }
        script.write(" return []; }")
        return script
    }

    /// The items of each origin, which stand one after the other.
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
