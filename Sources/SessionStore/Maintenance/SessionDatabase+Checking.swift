internal import GRDB

extension SessionDatabase {
    /// From how many bytes on a write-ahead log is worth a word: SQLite empties it at some 4 MiB.
    private static let largeLogSize: Int64 = 64 << 20

    /// Looks at everything: the file's structure, rows without owners, every sealed value, the permissions of the files.
    /// Changes nothing.
    ///
    /// - Throws: an error of the store where the look itself fails; a damaged file is a finding where it can be read at
    ///   all.
    public func check() throws(SessionStoreError) -> DatabaseCheck {
        var check = DatabaseCheck()
        check.findings += try structureFindings()
        check.findings += try orphanFindings()
        try checkValues(&check)
        check.findings += fileFindings()
        if try isRotationPending() {
            check.findings.append(
                DatabaseFinding(
                    .rotationUnfinished, isProblem: false, path,
                    "a rotation of the key was interrupted; 'crumb key rotate' brings it to its end"))
        }
        return check
    }

    private func structureFindings() throws(SessionStoreError) -> [DatabaseFinding] {
        try read { database in
            do {
                // SQLite quotes no values here, but pages, tables and indexes.
                let lines = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
                return lines.filter { $0 != "ok" }.map { line in
                    DatabaseFinding(.structure, path, "\(line); restore it from a backup")
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                return [DatabaseFinding(.structure, path, "the file is damaged; restore it from a backup")]
            }
        }
    }

    private func orphanFindings() throws(SessionStoreError) -> [DatabaseFinding] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT "table", parent, count(*) AS number FROM pragma_foreign_key_check GROUP BY 1, 2
                    UNION ALL
                    SELECT 'cookie_change', 'jar', count(*) FROM cookie_change
                    WHERE jar_id NOT IN (SELECT id FROM jar) HAVING count(*) > 0
                    ORDER BY 1, 2
                    """)
            return rows.map { row in
                let (table, parent, number): (String, String, Int) = (row["table"], row["parent"], row["number"])
                return DatabaseFinding(
                    .orphan, "\(path), table \(table)",
                    "\(number == 1 ? "a row belongs" : "\(number) rows belong") to no \(parent)")
            }
        }
    }

    private func checkValues(_ check: inout DatabaseCheck) throws(SessionStoreError) {
        let (readable, unreadable) = try read { database in
            var readable = 0
            var unreadable: [SealedValueLocation] = []
            for table in SealedTable.allCases {
                try table.forEach(database) { value in
                    if sealer.open(value.sealed, at: value.place) == nil {
                        unreadable.append(value.location)
                    } else {
                        readable += 1
                    }
                }
            }
            return (readable, unreadable)
        }
        check.readableValues = readable
        check.findings += unreadable.map { location in
            DatabaseFinding(
                .unreadable, location.description, "the stored value was changed or moved; log in or import it again",
                location: location)
        }
    }

    private func fileFindings() -> [DatabaseFinding] {
        guard path != ":memory:" else { return [] }
        var findings: [DatabaseFinding] = []
        let keyFile = keyRing.source.file?.path
        for file in [path, "\(path)-wal", "\(path)-shm"] + (keyFile.map { [$0] } ?? []) {
            guard let permissions = PrivateFile.permissions(file), permissions & 0o077 != 0 else { continue }
            findings.append(
                DatabaseFinding(.exposed, file, "other users may get at this file; run: chmod 600 '\(file)'"))
        }
        for folder in Set(([path] + (keyFile.map { [$0] } ?? [])).map { PrivateFile.folder(of: $0) }).sorted() {
            // With the sticky bit, as on /tmp, others can add files but not put theirs in the place of these.
            guard let permissions = PrivateFile.permissions(folder), permissions & 0o022 != 0,
                permissions & 0o1000 == 0
            else { continue }
            findings.append(
                DatabaseFinding(
                    .exposed, folder, "other users may replace the files in this folder; run: chmod go-w '\(folder)'"))
        }
        for file in PrivateFile.temporaries(of: path) + (keyFile.map { PrivateFile.temporaries(of: $0) } ?? []) {
            findings.append(
                DatabaseFinding(.leftover, isProblem: false, file, "a process that was killed left this; remove it"))
        }
        if let size = PrivateFile.size("\(path)-wal"), size > SessionDatabase.largeLogSize {
            findings.append(
                DatabaseFinding(
                    .largeLog, isProblem: false, "\(path)-wal",
                    "the log takes \(size) bytes; 'crumb prune' empties it when nobody is reading"))
        }
        return findings
    }
}
