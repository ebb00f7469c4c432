import CookieModel
import SessionStore

/// Where a sealed value lies, in JSON, without the value.
struct SealedValueReport: Encodable {
    let kind: String
    let jar: String?
    let owner: String?
    let domain: String?
    let path: String?
    let name: String

    init(_ location: SealedValueLocation) {
        kind = location.kind.rawValue
        jar = location.jar
        owner = location.owner
        domain = location.domain.isEmpty ? nil : location.domain.description
        path = location.path.isEmpty ? nil : location.path.description
        name = location.name.description
    }
}
