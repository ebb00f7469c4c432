extension FailureKind {
    /// The statuses and the meaning of a kind of failure.
    package struct Row: Sendable, Hashable {
        /// The exit status of the command.
        package let exitStatus: Int32
        /// The status of the service's answer; `nil` if the service has no such failure.
        package let httpStatus: Int?
        /// The meaning, for the manual; empty if only the service has the failure, or if it shares its exit status with
        /// another one.
        package let meaning: String

        fileprivate init(_ exitStatus: Int32, http: Int? = nil, _ meaning: String = "") {
            self.exitStatus = exitStatus
            httpStatus = http
            self.meaning = meaning
        }
    }

    /// The row of the table.
    package var row: Row {
        switch self {
        case .success: Row(0, "done")
        case .scenarioInvalid: Row(1, "`simulate`: a line is not a valid scenario; the others were answered")
        case .nothingToSend:
            Row(
                3,
                "`header`, `script`, `get`, `export` and `convert` to a header: there is nothing to send, so "
                    + "there is no output")
        case .cookieNotFound: Row(4, http: 404, "`remove`: no cookie of the jar matches; nothing was removed")
        case .cookieRefused: Row(5, "`set`: a line was refused; the others are stored")
        case .cookieNotHeld: Row(6, "`export`, `convert`: the format cannot hold a cookie; the others are written")
        case .fieldNotFound: Row(7, http: 404, "`jars fields remove`: the jar has no such header field")
        case .fieldInvalid:
            Row(
                8, http: 400,
                "`jars fields set`: the name, value or scope cannot be stored as a header field")
        case .nothingImported:
            Row(
                9,
                "`import`, `convert`: the files contain nothing that can be stored; the message says why "
                    + "(`nothingImported` with `--json`)")
        case .inputEmpty:
            Row(10, "a capture is empty, or `set` or `explain --set-cookie` got no line")
        case .inputUnrecognized: Row(11, http: 422, "a capture has an unknown format, or is binary")
        case .inputTruncated: Row(12, "a capture ends early; what was complete is stored")
        case .entryMalformed: Row(13, "an entry or line of a capture is broken; the others are stored")
        case .lineTooLong:
            Row(
                14,
                "a header line or field is longer than 1 MiB; the others are stored. `explain "
                    + "--set-cookie`: the input is longer than 1 MiB")
        case .inputIsFolder: Row(15, "the path is a folder, not a file")
        case .inputUnreadable: Row(16, "a file cannot be read")
        case .inputNotFound: Row(17, "a file does not exist")
        case .urlMissing:
            Row(18, http: 400, "a raw dump does not contain its URL, or a format needs a URL; give it with `--url`")
        case .urlInvalid: Row(19, http: 400, "a URL or host is not valid")
        case .databaseForeign:
            Row(20, http: 500, "the file is not a database, or belongs to another program; it was not changed")
        case .databaseNewer: Row(21, http: 500, "a newer crumb wrote the database; it was not changed")
        case .databasePrerelease:
            Row(95, http: 500, "a pre-release of crumb wrote the database; it was not changed")
        case .diskFull: Row(22, http: 507, "the disk is full; no stored data is lost")
        case .databaseUnavailable:
            Row(
                23, http: 500,
                "the database cannot be opened or created, or was deleted or replaced while it was in use")
        case .databaseReadOnly: Row(24, http: 500, "the database cannot be written")
        case .databaseBusy:
            Row(
                25, http: 503,
                "another process held the database for more than 10 seconds; `restore`: another process "
                    + "has it open")
        case .databaseUnreachable:
            Row(85, http: 503, "the database server cannot be reached, does not answer, or is no longer the primary")
        case .databaseFenced:
            Row(
                87, http: 503,
                "the database server may have been replaced as the primary, or has become it less than 5 seconds ago")
        case .commitUnknown:
            Row(
                86, http: 503,
                "the connection to the database server was lost during a commit: the change may be stored or not")
        case .databaseDamaged: Row(26, http: 500, "the database's content is damaged")
        case .databaseFailed: Row(27, http: 500, "SQLite failed in another way")
        case .fileExists:
            Row(
                28, http: 500,
                "`backup`, `restore`, `export`, `convert`, `key create`: the file exists already, or is the database "
                    + "itself or its key; `token setup`: the configuration of another program is in the way; "
                    + "`gateway`: the file of `--temporary-authority` or `--export-authority` holds something else")
        case .checkFailed: Row(29, "`check`: the database has problems; the output lists them")
        case .keyMissing: Row(30, http: 503, "the database is sealed and its key file is missing")
        case .keyWrong:
            Row(
                31, http: 503,
                "the key does not open the database, or the passphrase does not unlock the key")
        case .keyUnavailable:
            Row(32, http: 503, "the key file, `CRUMB_KEY` or the passphrase cannot be read or created, or is not valid")
        case .keyExposed:
            Row(
                33, http: 503,
                "other users can read the key file, the passphrase, the access token for a service, or a "
                    + "client's secret or key")
        case .jarNotFound: Row(34, http: 404, "no jar has that name")
        case .valueDamaged: Row(35, http: 500, "a stored value was changed or moved; the others were read")
        case .nameInvalid:
            Row(
                36, http: 400,
                "a name is not allowed for a jar, saved session or token; the same login is already stored "
                    + "under another name; or the name belongs to the login of another account")
        case .jarExists: Row(37, http: 409, "a jar with that name already exists; nothing was changed")
        case .sessionNotFound: Row(38, http: 404, "the jar has no saved session with that name")
        case .storageLeftOut:
            Row(39, "items of `localStorage` cannot be read, are too long or exceed a limit; the others were imported")
        case .tokenNotFound: Row(40, http: 404, "no token has that name")
        case .tokenExpired: Row(41, http: 409, "the access token has expired")
        case .tokenInputInvalid: Row(42, "the input is not a token, or is older than the stored one")
        case .loginRequired:
            Row(
                43, http: 409,
                "the login was revoked or quarantined, or the server no longer accepts it; a new login is required")
        case .serverRefused:
            Row(44, http: 502, "the authorization server rejected the request; the message contains its answer")
        case .serverUnavailable:
            Row(
                45, http: 502,
                "the authorization server cannot be reached, or is temporarily unavailable; nothing is lost, unless the message "
                    + "says that a refresh was sent")
        case .replyUnusable:
            Row(46, http: 502, "the authorization server's response is not valid, or comes from another server")
        case .tokenSettingsInvalid:
            Row(
                47, http: 422,
                "the settings for a token are incomplete or not safe, or a local setting such as `--ca-file`, "
                    + "`--proxy` or `SSL_CERT_FILE` cannot be used")
        case .loginFailed: Row(48, http: 422, "the login was denied, cancelled, or answered by someone else")
        case .tokenRefreshBusy: Row(49, http: 503, "another process has been refreshing the token for too long")
        case .curlNotFound: Row(50, "`curl` is not on `PATH`")
        case .curlArgumentsUnsupported: Row(51, "`crumb curl` does not support these arguments of curl")
        case .redirectInvalid: Row(52, "`crumb curl`: a redirect leads to a URL that cannot be requested")
        case .networkProgramNotFound:
            Row(
                53,
                "`crumb-network`, which speaks HTTP for `crumb`, is neither beside it nor on `PATH`, or "
                    + "of another version")
        case .serviceNotStarted:
            Row(
                54,
                "`serve`: the service cannot start; the message names the setting, address, file or database "
                    + "that prevents it")
        case .gatewayNotStarted:
            Row(
                77, http: 422,
                "`gateway`: the gateway cannot start; the message names the address or setting that prevents it. "
                    + "`explain --cache`: no gateway can start with these rules")
        case .browserNotStarted:
            Row(78, "`browse`: the browser, or `certutil`, is not on `PATH` or cannot be started")
        case .authorityExists:
            Row(79, "`gateway ca create`: the database already has an authority; nothing was changed")
        case .authorityNotFound: Row(80, "`gateway ca`: the database has no authority")
        case .serviceUnavailable: Row(55, "the service of `--service` is not running, or is temporarily unavailable")
        case .serviceRefused: Row(56, "the service of `--service` requires an access token, or a different one")
        case .serviceIncompatible:
            Row(57, "the server at the address of `--service` is not a Crumb service, or has another version")
        case .tsharkNotFound:
            Row(58, "`import`, `convert`: a packet capture needs `tshark`, which is not on PATH or cannot be started")
        case .internalError: Row(59, http: 500, "an unexpected error; please report it")
        case .publicSuffixListInvalid:
            Row(60, "the file is not a public suffix list; the message contains the line")
        case .agentLocked: Row(63, http: 423, "the running service is locked; `crumb token agent unlock` unlocks it")
        case .keyLocked: Row(70, http: 503, "the key is locked with a passphrase, and none was given")
        case .keyChanged:
            Row(71, http: 503, "the key was rotated while the database was open; open it again with the new key")
        case .keyRotationRefused:
            Row(
                72, http: 500,
                "another process is changing the key file, it is full, or there is no newer key to rotate to; `key forget`: the keys are in `CRUMB_KEY`"
            )
        case .fileNotWritten: Row(73, http: 500, "`backup`, `restore`, `export`, `convert`: the file cannot be written")
        case .outputFailed: Row(74, "the output cannot be written")
        case .browserUnreadable: Row(75, "`import`: a browser's database cannot be copied or read")
        case .outputIsTerminal:
            Row(76, "`export`, `convert`: standard output is a terminal; name a file, or `--output -`")
        case .interrupted: Row(130, "`import`: stopped with Control-C; what was read is stored")
        case .jsonMalformed: Row(13, "the JSON of a capture is broken")
        case .lineMalformed: Row(13, "a line of a capture is broken")
        case .nestingTooDeep: Row(13, "the JSON of a capture is nested too deeply")
        case .setCookieJoined: Row(13, "several Set-Cookie lines were joined into one")
        case .responseSkipped: Row(13, "a response of a capture cannot be read")
        case .valuesStripped: Row(13, "the values of the cookies were removed from a capture")
        case .valueEncrypted: Row(13, "the value of a cookie is encrypted")
        case .responseTooLarge: Row(14, "a response of a capture is too large")
        case .textInvalid:
            Row(36, http: 400, "the database cannot store a text: it contains U+0000, or is too long for an index")
        case .stepUpRequired: Row(43, http: 409, "the site requires a stronger login than the stored one")
        case .loginRuleInvalid: Row(47, http: 400, "a login rule is not safe, or has no effect")
        case .tokenNotPresentable:
            Row(47, http: 422, "the token cannot be sent in the way that the login rule requires")
        case .loginCookieRefused: Row(48, http: 422, "the jar rejects the cookie of the login rule")
        case .loginExchangeFailed: Row(48, http: 502, "the site returned no cookie for the token")
        case .packageOutdated: Row(91, "a package is not newer than the stored version")
        case .unauthenticated: Row(56, http: 401)
        case .forbidden: Row(56, http: 403)
        case .tokenMissing: Row(56, http: 401)
        case .tokenRefused: Row(56, http: 401)
        case .hostRefused: Row(56, http: 421)
        case .originRefused: Row(56, http: 403)
        case .agentPassphraseWrong: Row(56, http: 403)
        case .notFound: Row(57, http: 404)
        case .methodNotAllowed: Row(57, http: 405)
        case .methodUnknown: Row(57, http: 501)
        case .transferCodingUnknown: Row(57, http: 501)
        case .parameterInvalid: Row(57, http: 400)
        case .parameterMissing: Row(57, http: 400)
        case .pathInvalid: Row(57, http: 400)
        case .bodyInvalid: Row(57, http: 400)
        case .mediaTypeUnsupported: Row(57, http: 415)
        case .contentTypeRefused: Row(57, http: 415)
        case .contentEncodingRefused: Row(57, http: 415)
        case .requestMalformed: Row(57, http: 400)
        case .requestInvalid: Row(57, http: 400)
        case .requestLate: Row(55, http: 408)
        case .bodyTooLarge: Row(55, http: 413)
        case .headerTooLarge: Row(55, http: 431)
        case .rateLimited: Row(55, http: 429)
        case .connectionsExhausted: Row(55, http: 503)
        case .loginsExhausted: Row(55, http: 429)
        case .shuttingDown: Row(55, http: 503)
        case .serviceStarting: Row(55, http: 503)
        case .serviceStopping: Row(55, http: 503)
        case .unavailable: Row(55, http: 503)
        case .idempotencyKeyReused: Row(55, http: 422)
        case .idempotencyKeyRunning: Row(55, http: 409)
        case .idempotencyAnswerLost: Row(55, http: 409)
        case .loginNotFound: Row(55, http: 404)
        case .loginRuleNotFound: Row(55, http: 404)
        case .loginNotNeeded: Row(55, http: 422)
        case .cookieAmbiguous: Row(55, http: 409)
        case .gatewayNotFound: Row(81, http: 404, "`gateway`: the service runs no gateway with that name")
        case .gatewayExists:
            Row(
                88, http: 409,
                "`gateway start`: a gateway with that name runs with other settings, or is being started; nothing was "
                    + "changed")
        case .gatewaysExhausted: Row(55, http: 429)
        case .responseNotStored: Row(89, http: 404, "`cache show`: the jar's cache has no response to the URL")
        case .packageInvalid:
            Row(90, "`gateway package`: the file is not a package, or breaks a rule of the format; nothing was changed")
        case .packageRefused:
            Row(
                91,
                "`gateway package`: the signature, the key, an origin or the version does not permit the package; nothing "
                    + "was changed")
        case .packageNotFound:
            Row(92, "`gateway package`: the jar has no such package, or no version before")
        case .packageNotFetched:
            Row(93, "`gateway package add`: the download failed; the same command goes on if the server allows it")
        case .pageNotLoaded:
            Row(
                94,
                "`cache warm`: a page did not come, came with an error status, or could not be stored; the rest was stored"
            )
        }
    }
}
