internal import CookieModel

/// What a request asks the cookies of its site.
///
/// Handed on as one value in its place: the closures between the question and the cookies would each copy what they
/// need of it, which takes longer than the answer.
struct SiteQuestion {
    let jar: CookieJar
    let rules: RetrievalRules
    /// Which of the accesses that the answer is are to be written down.
    var accesses: AccessNotes

    init(_ context: RequestContext, to jar: CookieJar, now: Timestamp) {
        self.jar = jar
        rules = RetrievalRules(context, jar.policy, now: now)
        accesses = AccessNotes(before: now.advanced(bySeconds: -jar.database.lastAccessGranularity))
    }
}
