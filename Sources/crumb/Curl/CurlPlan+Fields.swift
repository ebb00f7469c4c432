import CookieModel
import RequestDecoration

extension CurlPlan {
    /// The fields that an option of curl's sets besides `--header`.
    private static let optionFields: [String: Set<String>] = [
        "compressed": ["accept-encoding"], "json": ["accept", "content-type"], "range": ["range"],
        "referer": ["referer"], "user-agent": ["user-agent"],
    ]

    /// Whether the user has said what a field of the request is, or that there is to be none.
    ///
    /// - Parameter name: the field's name in lower case.
    func setsField(_ name: String) -> Bool {
        options.contains { option in
            option.fieldName == name
                || option.isOn && CurlPlan.optionFields[option.name]?.contains(name) == true
        }
    }
}

extension FieldSelection {
    /// The lines of a configuration file that have curl send the fields; empty where there are none.
    var configuration: [UInt8] {
        sent.flatMap { sent in
            let line = Array("\(sent.name): ".utf8) + sent.value.bytes
            return CurlOption(name: "header", value: line).configurationLine
        }
    }
}
