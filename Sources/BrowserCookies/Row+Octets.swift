import CookieModel
import Foundation
import GRDB

// Columns are read as they are: a database may hold another type than its schema says, and text that is not UTF-8.
extension Row {
    /// A text or blob as octets; `nil` where it is neither. The statement must select it `CAST(… AS BLOB)`.
    func octets(_ column: String) -> Octets? {
        let value: DatabaseValue? = self[column]
        guard case .blob(let data)? = value?.storage else { return nil }
        return Octets(Array(data))
    }

    /// Text; what is not UTF-8 in it becomes U+FFFD.
    func text(_ column: String) -> String? {
        octets(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A whole number; `nil` where it is none, and where there is no such column.
    func number(_ column: String) -> Int64? {
        let value: DatabaseValue? = self[column]
        guard case .int64(let number)? = value?.storage else { return nil }
        return number
    }

    /// A flag; false where there is no such column.
    func flag(_ column: String) -> Bool {
        number(column).map { $0 != 0 } ?? false
    }
}
