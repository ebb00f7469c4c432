/// What names, hosts, pages and values look like out there.
enum Vocabulary {
    private static let syllables = [
        "amber", "anchor", "arrow", "basil", "birch", "bloom", "breeze", "canyon", "cinder", "clover", "copper",
        "crane",
        "dawn", "desert", "dune", "elm", "fable", "field", "fjord", "fox", "garden", "ginger", "grove", "heron",
        "honey",
        "island", "ivory", "kettle", "lantern", "lemon", "linen", "magnet", "market", "meadow", "mellow", "moss",
        "north",
        "ocean", "olive", "orchard", "paper", "pepper", "plum", "rain", "rocket", "saffron", "silver", "sparrow",
        "stone",
        "sugar", "thistle", "timber", "tulip", "valley", "walnut", "water", "wild", "winter", "wool", "yellow",
    ]
    private static let suffixes = [
        (46, "com"), (9, "org"), (8, "net"), (6, "io"), (6, "de"), (6, "co.uk"), (3, "fr"), (3, "com.au"), (3, "co.jp"),
        (3, "com.br"), (3, "dev"), (2, "github.io"), (2, "nl"),
    ]
    private static let subdomains = [
        "www", "shop", "accounts", "login", "api", "mail", "m", "static", "news", "help", "de", "us", "docs", "media",
    ]
    static let folders = ["/account", "/checkout/basket", "/api/v2", "/news", "/profile/privacy", "/find", "/manual"]
    static let pages = [
        "/", "/", "/index.html", "/account/orders?page=3", "/checkout/basket/add?article=4482",
        "/api/v2/orders/93311?fields=id,total", "/news/2026/10/what-is-new.html", "/profile/privacy/devices",
        "/find?q=walking+boots&lang=en", "/manual/first-steps", "/static/main.7fe3b2.js", "/favicon.ico",
    ]
    static let cookieNames = [
        "_ga", "_gid", "_gat", "_gcl_au", "_fbp", "_fbc", "NID", "SID", "HSID", "SSID", "APISID", "SAPISID", "IDE",
        "__cf_bm", "cf_clearance", "ak_bmsc", "bm_sz", "_abck", "AWSALB", "AWSALBCORS", "datadome", "PHPSESSID",
        "JSESSIONID", "ASP.NET_SessionId", "connect.sid", "sessionid", "laravel_session", "csrftoken", "XSRF-TOKEN",
        "remember_web", "auth_token", "refresh_token", "device_id", "OptanonConsent", "OptanonAlertBoxClosed",
        "euconsent-v2", "CookieConsent", "lang", "locale", "theme", "tz", "currency", "cart", "wishlist", "last_visit",
        "experiments", "features", "referrer", "_uetsid", "_uetvid", "_clck", "_clsk", "hubspotutk", "__hssc",
        "__stripe_mid", "__stripe_sid", "intercom-id", "ajs_anonymous_id", "mp_token", "amplitude_id", "s_vi", "s_fid",
        "visid_incap", "incap_ses", "ab_group", "_pin_unauth", "_tt_enable_cookie", "li_gc", "bcookie", "guest_id",
    ]

    /// A registrable domain; `serial` makes it different from all others.
    static func registrableDomain(_ serial: Int, _ random: inout RandomSource) -> String {
        let name = random.pick(syllables) + random.pick(syllables) + String(serial, radix: 36)
        return "\(name).\(random.pick(weighted: suffixes))"
    }

    /// A registrable domain and one to five names below it.
    static func hosts(of domain: String, _ random: inout RandomSource) -> [String] {
        [domain] + random.sample(random.number(1..<6), of: subdomains).map { "\($0).\(domain)" }
    }

    /// A host of a site that set no cookies: the serial is beyond those of all jars.
    static func unknownHost(_ random: inout RandomSource) -> String {
        "\(random.pick(subdomains)).\(registrableDomain(100_000_000 + random.number(0..<1_000_000), &random))"
    }

    /// A cookie's value: identifiers, tokens, settings.
    static func value(_ random: inout RandomSource) -> String {
        switch random.number(0..<100) {
        case ..<25: "GA1.2.\(random.digits(9)).\(random.digits(10))"
        case ..<45: [8, 4, 4, 4, 12].map { random.hexadecimal($0) }.joined(separator: "-")
        case ..<60: random.hexadecimal(32)
        case ..<78: random.base64(random.number(40..<120))
        case ..<84: random.base64(random.number(160..<320))
        case ..<92: random.pick(["en-GB", "de-AT", "dark", "light", "1", "0", "EUR", "Europe/Vienna", "yes", "all"])
        default: "fb.1.\(random.digits(13)).\(random.digits(10))"
        }
    }

    private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// A date in 2029 to 2035 in one of the formats that servers use, mostly that of RFC 9110.
    static func date(_ random: inout RandomSource, mixed: Bool) -> String {
        let year = random.number(2029..<2036)
        let month = random.pick(months)
        let day = twoDigits(random.number(1..<29))
        let clock = [24, 60, 60].map { twoDigits(random.number(0..<$0)) }.joined(separator: ":")
        let weekday = random.pick(weekdays)
        switch mixed ? random.number(0..<100) : 0 {
        case ..<82: return "\(weekday.prefix(3)), \(day) \(month) \(year) \(clock) GMT"
        case ..<96: return "\(weekday.prefix(3)), \(day)-\(month)-\(year) \(clock) GMT"
        case ..<98: return "\(weekday), \(day)-\(month)-\(year % 100) \(clock) GMT"
        default: return "\(weekday.prefix(3)) \(month) \(day) \(clock) \(year)"
        }
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
