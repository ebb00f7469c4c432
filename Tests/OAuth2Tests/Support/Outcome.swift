import OAuth2

/// The error that `body` throws, or `nil`.
func thrown(_ body: () throws(OAuth2Error) -> some Any) -> OAuth2Error? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Every text that a value shows of itself.
func shown(_ value: Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return [
        "\(value)", String(describing: value), String(reflecting: value), dumped,
        "\(Mirror(reflecting: value).children)",
    ].joined(separator: "\n")
}
