/// Who looks at a page.
struct CallerView {
    let name: String
    /// Whether the caller signed in here; on a Unix-domain socket nobody has to.
    let canSignOut: Bool
}

struct SignInView: InspectorView {
    static let template = "sign-in"
    let title = "Sign in"
    let caller: CallerView? = nil
    let refused: Bool
    /// The page to go to afterwards: a path of this service.
    let to: String
}

struct ForeignLinkView: InspectorView {
    static let template = "foreign-link"
    let title = "A link from another site"
    let caller: CallerView? = nil
    /// The page that the link leads to: a path of this service.
    let href: String
}

struct ProblemView: InspectorView {
    static let template = "problem"
    let title: String
    let caller: CallerView?
    let detail: String
}
