/// The unexpired cookies that a new one may meet: those of its registrable domain.
public protocol ExistingCookies {
    /// The cookie with that ID, if there is one.
    func cookie(_ id: Cookie.ID) -> Cookie?

    /// Whether a cookie without Secure over an insecure connection would overlay a Secure one (section 5.7, step 16).
    func containsSecureCookie(overlaidBy cookie: Cookie) -> Bool
}

extension [Cookie]: ExistingCookies {
    /// The first cookie with that ID.
    public func cookie(_ id: Cookie.ID) -> Cookie? {
        first { $0.id == id }
    }

    /// Whether `cookie` overlays one of these (section 5.7, step 16).
    public func containsSecureCookie(overlaidBy cookie: Cookie) -> Bool {
        contains { CookiePolicy.overlays(cookie, $0) }
    }
}
