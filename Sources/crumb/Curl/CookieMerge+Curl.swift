import CookieModel
import RequestDecoration

extension CookieMerge {
    /// The line of a configuration file that has curl send it; empty where there is nothing to send.
    var configuration: [UInt8] {
        guard !octets.isEmpty else { return [] }
        return CurlOption(name: "header", value: Array("Cookie: ".utf8) + octets.bytes).configurationLine
    }
}
