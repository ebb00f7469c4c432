/// What section 5.7 finds about a received cookie before it meets those that are stored.
package struct CandidateFindings {
    /// Everything that is wrong with it, by every step up to 22 but step 16.
    package internal(set) var reasons: ReasonSet<RejectionReason>
    /// Whether step 16 applies: a cookie without Secure over an insecure connection.
    let mayOverlaySecureCookies: Bool
    /// Whether a script sets it, for step 23.2.
    let isFromScript: Bool
}
