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
            "parameters": Array(parameters.utf8), "cookies": cookiesFunction(sections, labelled: verifies).octets,
        ])
    }

    /// The function that gives a frame its own cookies, and creates no object of any other's. On one line, so that no
    /// place in a stack, which a page can read, depends on how many there are.
    private static func cookiesFunction(
        _ sections: [(origin: Origin, seeds: OriginSeeds)], labelled: Bool
    ) -> JavaScript {
        var script = JavaScript()
        script.reserve(sections.reduce(256) { $0 + $1.seeds.seeds.count * 384 })
        script.write("function cookiesFor(protocol, host) {")
        for (origin, seeds) in sections {
            script.write(" if (protocol === ")
            script.writeLiteral(origin.scheme)
            script.write(" && host === ")
            script.writeLiteral(origin.host)
            script.write(") return [")
            seeds.cookies.withUnsafeBufferPointer { cookies in
                guard let base = cookies.baseAddress else { return }
                for place in seeds.seeds.indices {
                    if place > 0 { script.write(", ") }
                    seeds.seeds[place].write(base + place, to: &script, labelled: labelled)
                }
            }
            script.write("];")
        }
        script.write(" return []; }")
        return script
    }
}

extension InjectionScript.Seed {
    /// Writes the object that the script has. Every property is there in every object, so that none is looked up on a
    /// prototype, which a page can change.
    fileprivate func write(_ cookie: UnsafePointer<Cookie>, to script: inout JavaScript, labelled: Bool) {
        script.write("{name: ")
        script.writeLiteral(cookie.pointee.id.name)
        script.write(", value: ")
        script.writeLiteral(cookie.pointee.value)
        script.write(", path: ")
        script.writeLiteral(cookie.pointee.id.path)
        script.write(", attributes: \"")
        script.writeWithinLiteral(attributes)
        script.write("\", expires: ")
        if let expiry = cookie.pointee.expiry { script.write(expiry.seconds * 1000) } else { script.write("null") }
        script.write(hasOwnPath ? ", ownPath: true, top: " : ", ownPath: false, top: ")
        if let top { script.writeLiteral(top) } else { script.write("null") }
        script.write(", mark: \"")
        script.write(mark(cookie))
        script.write("\", state: \"\"")
        if labelled {
            script.write(", label: ")
            script.writeLiteral(Octets(Self.label(cookie).octets))
        }
        script.write("}")
    }

    /// The beginning of the cookie's entry in a report: JSON, which the literals of this module are as well.
    private static func label(_ cookie: UnsafePointer<Cookie>) -> JavaScript {
        var label = JavaScript()
        label.write("{\"name\":")
        label.writeLiteral(cookie.pointee.id.name)
        label.write(",\"domain\":\"")
        if !cookie.pointee.id.isHostOnly { label.write(".") }
        label.write(cookie.pointee.id.domain.octets)
        label.write("\",\"path\":")
        label.writeLiteral(cookie.pointee.id.path)
        return label
    }
}
