import Captures

// The sentences, all in one place. None takes a text from the database.
extension CaptureFailure {
    // MARK: The file

    static let databaseNotReadable = CaptureFailure(
        .databaseUnreadable, "The database cannot be read; check that it exists and belongs to you.")
    static let databaseNotCopied = CaptureFailure(
        .databaseUnreadable, "The database cannot be copied; check the folder for temporary files.")
    static let databaseTooLarge = CaptureFailure(
        .databaseUnreadable, "The database is larger than 4 GiB, which is too large for a browser's cookies.")
    static let databaseUnstable = CaptureFailure(
        .databaseUnreadable,
        "The browser keeps writing to the database; wait until it has loaded its pages, or close it.")

    static func databaseDamaged(_ code: Int32) -> CaptureFailure {
        CaptureFailure(
            .databaseUnreadable,
            "The database is damaged or is not a database (SQLite code \(code)); the rows before the damage were read.")
    }

    static let databaseUnknown = CaptureFailure(
        .inputUnrecognized, "The database has no cookie table of Firefox, Chromium or WebKitGTK.")

    static func databaseOtherFormat(_ format: CaptureFormat) -> CaptureFailure {
        CaptureFailure(.inputUnrecognized, "The database belongs to another browser: its format is \(format.rawValue).")
    }

    // MARK: Rows

    static let rowMalformed = CaptureFailure(.entryMalformed, "The row lacks a required column and was left out.")
    static let rowTooLong = CaptureFailure(.lineTooLong, "The row is longer than 8 MiB and was left out.")

    static func otherContainer(_ container: Int, count: Int) -> CaptureFailure {
        let name = container == 0 ? "no container" : "container \(container)"
        return CaptureFailure(
            .otherContainer,
            "\(count == 1 ? "One cookie" : "\(count) cookies") of \(name) \(count == 1 ? "was" : "were") left out: one container is read at a time. "
                + "Read it into a jar of its own with --container \(container).", .notice)
    }

    static func isolatedCookies(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .otherContainer,
            "\(count == 1 ? "One cookie" : "\(count) cookies") of private windows or of first-party isolation \(count == 1 ? "was" : "were") left out.",
            .notice)
    }

    static func encryptedValues(_ obstacle: ChromiumCipher.Obstacle, count: Int) -> CaptureFailure {
        let reason =
            switch obstacle {
            case .passwordMissing:
                "encrypted under the password in the desktop's keyring (v11). `--browser NAME` asks the keyring; "
                    + "`--keyring-password-file FILE` gives the password."
            case .passwordWrong:
                "encrypted under another password (v11). Give the right one with `--keyring-password-file FILE`."
            case .damaged: "damaged, or encrypted on another operating system (v10): only those of Linux can be read."
            case .appBound:
                "encrypted with an app-bound key (v20), which only the browser itself can use: export them from the "
                    + "running browser, through DevTools (Storage.getCookies) or an extension such as Cookie-Editor."
            case .unknown: "encrypted in an unknown way."
            }
        return CaptureFailure(.valueEncrypted, "\(cookies(count)) left out: the values are \(reason)", count: count)
    }

    private static func cookies(_ count: Int) -> String {
        count == 1 ? "One cookie was" : "\(count) cookies were"
    }
}
