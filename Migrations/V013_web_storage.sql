-- V013, 2026-11-23: the localStorage of pages, where many sites keep a login.
--
-- Compatible with V012's rows: no jar has any.

-- An item of a jar (`snapshot_id` 0) or of one of its saved sessions. `origin` is scheme, host and port. `key` and the
-- sealed value are strings of JavaScript in UTF-8, where a surrogate without its pair is three octets (WTF-8). The value
-- is sealed to jar, origin and key, which stay the same when a session is saved or restored. `sequence` is the order in
-- which the items came.
CREATE TABLE web_storage (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    snapshot_id INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (jar_id, snapshot_id, origin, key)
) STRICT;
