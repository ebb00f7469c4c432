// `Octets`, `Timestamp`, `WebHost` and `RequestURL` stand in nearly every signature of this module, so that `CookieModel`
// without them is of no use: whoever imports it has them too, as with Hummingbird and its core or NIO and its parts.
@_exported public import WebPrimitives
