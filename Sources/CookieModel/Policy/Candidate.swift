/// A received cookie before it meets those that are stored: section 5.7 up to step 22, without step 16.
package struct Candidate {
    /// The cookie as it would be stored.
    package var cookie: Cookie
    /// Everything that is wrong with it so far.
    var reasons: ReasonSet<RejectionReason>
    /// Whether step 16 applies: a cookie without Secure over an insecure connection.
    let mayOverlaySecureCookies: Bool
    /// Whether a script sets it, for step 23.2.
    let isFromScript: Bool
}
