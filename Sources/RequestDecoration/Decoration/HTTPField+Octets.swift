import CookieModel
import HTTPTypes

extension HTTPField {
    /// The octets of the value.
    var octets: Octets { withUnsafeBytesOfValue { Octets(Array($0)) } }
}
