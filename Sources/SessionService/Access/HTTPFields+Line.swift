import HTTPTypes

extension HTTPFields {
    /// The value of a field, its lines joined where there are several: nearly always there is one, which is given
    /// without being copied.
    func line(_ name: HTTPField.Name) -> String? {
        let lines = self[values: name]
        return lines.count > 1 ? self[name] : lines.first
    }
}
