-- V019, 2026-11-27: which cookies responses tried to set and the rules rejected, without their values.
--
-- Compatible with V018's rows: nothing is known of earlier rejections.

-- The newest rejection of each name from a host; a jar keeps the newest ones. `name` is cut to 256 octets, and empty if
-- the line could not be read. `reasons` are identifiers separated by commas. `rejected_at` is when the response came.
CREATE TABLE rejected_cookie (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    site BLOB NOT NULL,
    host BLOB NOT NULL,
    name BLOB NOT NULL,
    reasons TEXT NOT NULL,
    rejected_at INTEGER NOT NULL,
    PRIMARY KEY (jar_id, site, host, name)
) STRICT, WITHOUT ROWID;
