/// One Set-Cookie line of the mix that browsing meets, with the URL it came from.
struct ResponseLine {
    private let host: String
    private let domain: String
    private var name = ""
    private var value = ""
    private var attributes: [String] = []

    /// A line from one of `hosts`, the first of which is the registrable domain.
    init(from hosts: [String], _ random: inout RandomSource) {
        domain = hosts[0]
        host = random.pick(hosts)
        let kind = random.number(0..<100)
        switch kind {
        case ..<35: analytics(&random)
        case ..<60: session(&random)
        case ..<75: preference(&random)
        case ..<85: token(&random)
        case ..<90: prefixed(&random)
        case ..<95: deletion(&random)
        default: malformed(&random)
        }
        // Servers write attributes in any order and case; what is malformed stays as it is.
        if kind < 95 {
            random.shuffle(&attributes)
            attributes = attributes.map { random.chance(25) ? Self.withLowerCaseName($0) : $0 }
        }
    }

    private static func withLowerCaseName(_ attribute: String) -> String {
        let name = attribute.prefix { $0 != "=" }
        return name.lowercased() + attribute.dropFirst(name.count)
    }

    /// The field value.
    func fieldValue(_ random: inout RandomSource) -> String {
        (["\(name)=\(value)"] + attributes).joined(separator: random.chance(90) ? "; " : ";")
    }

    /// The URL.
    func url(_ random: inout RandomSource) -> String {
        "https://\(host)\(random.pick(Vocabulary.pages))"
    }

    private mutating func analytics(_ random: inout RandomSource) {
        switch random.number(0..<10) {
        case 0: (name, value) = ("NID", "\(random.digits(3))=\(random.base64(170))")
        case 1: (name, value) = ("__cf_bm", "\(random.base64(43))-\(random.digits(10))-1.0.1.1-\(random.base64(90))")
        case 2: (name, value) = ("ak_bmsc", random.base64(320))
        case 3: (name, value) = ("_ga_" + random.base64(10).uppercased(), Vocabulary.value(&random))
        case 4: (name, value) = ("AMCV_" + random.base64(24), Vocabulary.value(&random))
        default: (name, value) = (random.pick(["_ga", "_gid", "_fbp", "_gcl_au", "IDE"]), Vocabulary.value(&random))
        }
        attributes = [
            "Expires=" + Vocabulary.date(&random, mixed: true), "Path=/",
            "Domain=\(random.chance(50) ? "." : "")\(domain)",
        ]
        if random.chance(60) { attributes.append("Secure") }
        if random.chance(40) { attributes.append("HttpOnly") }
        if random.chance(60) { attributes.append(random.pick(["SameSite=None", "SameSite=none", "SameSite=Lax"])) }
        if random.chance(10) { attributes.append("Priority=HIGH") }
    }

    private mutating func session(_ random: inout RandomSource) {
        name = random.pick(["PHPSESSID", "JSESSIONID", "sid", "connect.sid", "ASP.NET_SessionId", "laravel_session"])
        switch random.number(0..<3) {
        case 0: value = random.hexadecimal(32)
        case 1: value = random.base64(26)
        default: value = "s%3A\(random.base64(32)).\(random.base64(43))"
        }
        attributes = ["Path=/", "HttpOnly"]
        if random.chance(80) { attributes.append("Secure") }
        if random.chance(50) { attributes.append("SameSite=" + random.pick(["Lax", "Strict", "None"])) }
    }

    private mutating func preference(_ random: inout RandomSource) {
        name = random.pick(["lang", "theme", "tz", "currency", "CookieConsent", "ab_group"])
        value = Vocabulary.value(&random)
        attributes = [
            "Max-Age=\(random.pick([3600, 86_400, 2_592_000, 31_536_000]))",
            "Path=\(random.chance(36) ? random.pick(Vocabulary.folders) : "/")",
        ]
        if random.chance(30) { attributes.append("Domain=\(domain)") }
        if random.chance(30) { attributes.append("Expires=" + Vocabulary.date(&random, mixed: true)) }
    }

    private mutating func token(_ random: inout RandomSource) {
        name = random.pick(["auth_token", "id_token", "access_token"])
        value = "\(random.base64(36)).\(random.base64(random.number(318..<718))).\(random.base64(43))"
        attributes = ["Path=/", "HttpOnly", "Secure", "SameSite=Strict", "Max-Age=900"]
    }

    private mutating func prefixed(_ random: inout RandomSource) {
        name = random.pick(["__Host-session", "__Host-csrf", "__Secure-user"])
        value = random.base64(60)
        attributes = ["Path=/", "Secure", "HttpOnly", "SameSite=None"]
        if random.chance(50) { attributes.append("Partitioned") }
    }

    private mutating func deletion(_ random: inout RandomSource) {
        name = random.pick(Vocabulary.cookieNames)
        value = random.pick(["", "deleted"])
        let past = random.pick(["Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01-Jan-1970 00:00:01 GMT"])
        attributes = ["Expires=" + past, "Path=/"]
        if random.chance(50) { attributes.append("Max-Age=0") }
    }

    private mutating func malformed(_ random: inout RandomSource) {
        name = random.pick(Vocabulary.cookieNames)
        value = Vocabulary.value(&random)
        if random.chance(10) { name = " \(name) " }
        if random.chance(20) { value = "\"\(value)\"" }
        let oddities = [
            "Max-Age=soon", "Max-Age=", "Expires=tomorrow", "Expires=Wed, 77 Abc 2031 88:88:88 GMT", "Domain=",
            "Domain=elsewhere.example", "Path=here", "Path=", "Path=/x", "Version=1", "Comment=two words",
            "SameSite=Perhaps", "=nothing", "", "Secure=1", "HttpOnly=true",
        ]
        attributes = random.sample(random.number(1..<5), of: oddities)
    }
}
