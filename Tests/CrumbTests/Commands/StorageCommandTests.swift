import Foundation
import TestSupport
import Testing

@Suite("localStorage: import, export, crumb storage, crumb script")
struct StorageCommandTests {
    private let home = CrumbHome()

    /// Values that a copy which goes through text in some other way would change.
    private static let values = [
        "plain", "", "{\"token\":\"s3cret\"}", "line\nline\r\u{0}\u{1F}\u{7F}", "\u{E9}\u{4E2D}\u{1F600}",
        "</script>&'\\",
    ]

    private func state(_ value: (Int) -> String = { values[$0] }) throws -> String {
        let items = Self.values.indices.map { ["name": "key\($0)", "value": value($0)] }
        let object: [String: Any] = [
            "cookies": [["name": "sid", "value": "1", "domain": "www.example.com", "path": "/", "expires": -1]],
            "origins": [
                ["origin": "https://www.example.com", "localStorage": items],
                ["origin": "https://other.example:8443", "localStorage": [["name": "k", "value": "other-s3cret"]]],
            ],
        ]
        return try home.write(JSONSerialization.data(withJSONObject: object), to: "state.json")
    }

    /// The items of an exported state, by origin.
    private func storage(_ text: String) throws -> [String: [[String: String]]] {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        var storage: [String: [[String: String]]] = [:]
        for origin in try #require(object["origins"] as? [[String: Any]]) {
            storage[try #require(origin["origin"] as? String)] = origin["localStorage"] as? [[String: String]]
        }
        return storage
    }

    @Test("An export returns imported items byte for byte; so does convert")
    func roundTrip() throws {
        let path = try state()
        let given = try storage(String(decoding: home.bytes("state.json"), as: UTF8.self))
        let imported = try home.crumb("import", path)
        #expect(
            imported.status == 0 && imported.text.hasSuffix("0 refused, 7 localStorage items\n"), "\(imported.messages)"
        )
        #expect(!imported.messages.contains("s3cret"))
        let exported = try home.crumb("export", "--format", "storage-state")
        #expect(exported.status == 0 && exported.messages.contains("1 cookie written, 7 localStorage items"))
        #expect(try storage(exported.text) == given)
        #expect(try storage(home.crumb("convert", "--to", "storage-state", path).text) == given)
        let page = try home.crumb("export", "--format", "storage-state", "--url", "https://www.example.com/")
        #expect(try storage(page.text).keys.sorted() == ["https://www.example.com"])
        let netscape = try home.crumb("export", "--format", "netscape")
        #expect(netscape.messages.contains("netscape has no localStorage: 7 items left out"))
        #expect(!netscape.text.contains("s3cret"))
        // A jar with storage and no cookies gives its storage.
        #expect(try home.crumb("remove", "sid").status == 0)
        #expect(try storage(home.crumb("export", "--format", "storage-state").text) == given)
    }

    @Test("`storage` lists origins and keys, values only on request, and removes items")
    func listAndRemove() throws {
        #expect(try home.crumb("storage").messages.contains("no localStorage in jar 'default'"))
        _ = try home.crumb("import", try state { "s3cret\($0)" })
        let origins = try home.crumb("storage", "list")
        #expect(origins.text.contains("https://www.example.com") && !origins.text.contains("key0"))
        let keys = try home.crumb("storage", "list", "--origin", "https://www.example.com/path")
        #expect(keys.text.hasPrefix("KEY\nkey0\n") && !keys.text.contains("s3cret"))
        let values = try home.crumb(
            "storage", "list", "--origin", "https://www.example.com", "--values", "--json"
        ).objects()
        #expect(values.first?["value"] as? String == "s3cret0" && values.count == 6)
        #expect(try home.crumb("storage", "list", "--values").status == 64)
        #expect(try home.crumb("storage", "remove").status == 64)
        let one = try home.crumb("storage", "remove", "--origin", "https://www.example.com", "key0")
        #expect(one.messages.contains("removed 1 localStorage item from jar 'default'"))
        let rest = try home.crumb("storage", "remove", "--all", "--json").objects()
        #expect(rest.first?["removed"] as? Int == 6)
    }

    @Test("The script and the plan set the items of the page's origin, and none of another's")
    func script() throws {
        _ = try home.crumb("import", try state())
        let script = try home.crumb("script", "https://www.example.com/").text
        #expect(script.contains(#""key0","plain""#) && script.contains(#"host === "www.example.com""#))
        #expect(!script.contains("other-s3cret") && !script.contains("</script>"))
        let other = try home.crumb("script", "https://other.example:8443/").text
        #expect(other.contains(#"host === "other.example:8443""#) && !other.contains("key0"))
        // Another port is another origin.
        #expect(try home.crumb("script", "https://other.example/").status == 3)
        let report = try home.crumb("script", "--json", "https://www.example.com/").objects().first
        #expect(report?["storageItems"] as? Int == 6)
        let plan = try home.crumb("plan", "https://www.example.com/").objects().first
        let steps = try #require(plan?["steps"] as? [[String: Any]])
        let install = try #require(steps.first { $0["step"] as? String == "install-script" })
        #expect(install["storageItems"] as? Int == 6)
        #expect((install["script"] as? String)?.contains(#""key0","plain""#) == true)
        #expect((install["script"] as? String)?.contains("other-s3cret") == false)
    }

    @Test("Surrogates without their pair come back as escapes; in JSON output the value is in Base64")
    func surrogates() throws {
        let path = try home.write(
            #"{"cookies":[],"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"a\uD800\udc80\ud83d"}]}]}"#,
            to: "state.json")
        #expect(try home.crumb("import", path).status == 0)
        let exported = try home.crumb("export", "--format", "storage-state").text
        // The first two are a pair.
        #expect(exported.contains("\"value\":\"a\u{10080}\\uD83D\"}"), "\(exported)")
        #expect(try home.crumb("convert", "--to", "storage-state", path).text == exported)
        let item = try home.crumb("storage", "--origin", "https://a.example", "--values", "--json").objects().first
        #expect(item?["value"] == nil && item?["valueBase64"] as? String == "YfCQgoDtoL0=")
    }

    @Test("Items that cannot be read or do not fit are left out and named, with their own status; the rest is imported")
    func leftOut() throws {
        let item = #"{"name":"good","value":"1"}"#
        let large = #"{"name":"large","value":"\#(String(repeating: "s3cret", count: 200_000))"}"#
        let path = try home.write(
            #"{"cookies":[],"origins":[{"origin":"https://a.example","localStorage":[\#(item),\#(large)]}]}"#,
            to: "state.json")
        let result = try home.crumb("import", path)
        #expect(
            result.status == 39
                && result.text.hasSuffix("0 refused, 1 localStorage item, 1 localStorage item left out\n"),
            "\(result.messages)")
        #expect(
            result.messages.contains(
                "\(path): Item 2 of the localStorage of origin 1 was left out: its value is longer than 1 MiB.\n"))
        #expect(!result.messages.contains("s3cret"))
        // What was left out may be read another time.
        let again = try home.crumb("import", "--json", path)
        #expect(try again.status == 39 && again.objects().first?["storageItemsLeftOut"] as? Int == 1)
        let clear = try home.crumb("jars", "clear", "default")
        #expect(
            clear.messages == """
                removed 0 cookies and 1 localStorage item from jar 'default'
                to undo this within a day: crumb jars restore default

                """)
        let items = (0..<6).map { #"{"name":"\#($0)","value":"\#(String(repeating: "x", count: 1_000_000))"}"# }
        let full = try home.write(
            #"{"cookies":[],"origins":[{"origin":"https://b.example","localStorage":[\#(items.joined(separator: ","))]}]}"#,
            to: "full.json")
        for dryRun in [true, false] {
            let result = try dryRun ? home.crumb("import", "--dry-run", full) : home.crumb("import", full)
            #expect(result.status == 39, "\(result.messages)")
            #expect(result.text.contains("5 localStorage items, 1 localStorage item left out"), "\(result.text)")
            #expect(result.messages.contains("The localStorage of https://b.example does not fit"))
        }
    }

    @Test("A dry run stores nothing; a jar is made for localStorage alone")
    func dryRun() throws {
        let path = try home.write(
            #"{"cookies":[],"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"v"}]}]}"#,
            to: "state.json")
        let trial = try home.crumb("import", "--dry-run", "--json", "--jar", "new", path)
        #expect(try trial.objects().first?["storageItems"] as? Int == 1, "\(trial.messages)")
        #expect(try home.crumb("storage", "--jar", "new").status == 34)
        let result = try home.crumb("import", "--jar", "new", path)
        #expect(
            result.status == 0
                && result.text == "\(path): 0 cookies: 0 taken, 0 replaced, 0 deleted, 0 refused, 1 localStorage item\n"
        )
        #expect(try home.crumb("storage", "--jar", "new", "--json").objects().count == 1)
        #expect(try home.crumb("import", "--jar", "new", path).text.contains("imported before"))
        // What was removed is imported again.
        #expect(try home.crumb("storage", "remove", "--jar", "new", "--origin", "https://a.example/x", "k").status == 0)
        #expect(try home.crumb("import", "--jar", "new", path).text.contains("1 localStorage item"))
    }

    @Test("The end of a session keeps localStorage, a saved session brings it back, and clear removes it")
    func sessions() throws {
        _ = try home.crumb("import", try state())
        func count() throws -> Int { try home.crumb("storage", "--json").objects().count }
        #expect(try home.crumb("session", "save", "monday").status == 0)
        #expect(try home.crumb("session", "end").status == 0)
        #expect(try count() == 2)
        #expect(try home.crumb("jars", "clear", "default").status == 0)
        #expect(try count() == 0)
        #expect(try home.crumb("session", "restore", "monday").status == 0)
        #expect(try count() == 2)
        #expect(try home.crumb("key", "rotate").status == 0)
        #expect(
            try home.crumb("storage", "--origin", "https://other.example:8443", "--values").text.contains(
                "other-s3cret"))
    }
}
