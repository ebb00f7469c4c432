internal import CookieModel

/// A value as it is stored, with the place that it is sealed to.
struct SealedValue {
    /// The row and column: what it takes to write the value back.
    enum Key {
        case cookie(owner: Int64, site: Octets, id: Cookie.ID)
        case token(id: Int64, column: TokenRows.SealedColumn)
        case headerField(jarID: Int64, name: String, scope: String)
        case storage(jarID: Int64, snapshotID: Int64, origin: String, key: Octets)
    }

    let key: Key
    let location: SealedValueLocation
    let place: [UInt8]
    let sealed: Octets
}
