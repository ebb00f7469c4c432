-- V002, 2026-11-21: what a jar's rules are, where a cookie came from, what changed when, and saved sessions.
--
-- Compatible with V001's rows: sealed values stay as they are, since what they are bound to does not change.

-- A jar's limits (NULL for none) and its next places in the order of creation and in the journal, none of which is
-- given out twice.
ALTER TABLE jar ADD COLUMN domain_cookies INTEGER DEFAULT 180;
ALTER TABLE jar ADD COLUMN total_cookies INTEGER;
ALTER TABLE jar ADD COLUMN partition_cookies INTEGER DEFAULT 180;
ALTER TABLE jar ADD COLUMN partition_octets INTEGER DEFAULT 10240;
ALTER TABLE jar ADD COLUMN request_cookies INTEGER;
ALTER TABLE jar ADD COLUMN request_octets INTEGER;
ALTER TABLE jar ADD COLUMN next_sequence INTEGER NOT NULL DEFAULT 1;
ALTER TABLE jar ADD COLUMN next_change INTEGER NOT NULL DEFAULT 1;
UPDATE jar SET next_sequence = 1 + coalesce((SELECT max(sequence) FROM cookie WHERE jar_id = jar.id), 0);
UPDATE jar SET total_cookies = 3300 WHERE profile = 'browser';

-- Captures that were imported whole, by the SHA-256 of their octets: the same one again changes nothing.
CREATE TABLE capture (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    name TEXT NOT NULL,
    imported_at INTEGER NOT NULL,
    UNIQUE (jar_id, digest)
) STRICT;

-- Where the cookie's present value came from: the capture, unless it was a live response, the URL without its query,
-- and when the response came.
ALTER TABLE cookie ADD COLUMN capture_id INTEGER REFERENCES capture (id) ON DELETE SET NULL;
ALTER TABLE cookie ADD COLUMN source_url TEXT;
ALTER TABLE cookie ADD COLUMN received_at INTEGER;

-- What changed, in order, without values; the oldest entries of a jar go when there are too many. `cause` is one of the
-- causes that the program knows: 1 stored, 2 replaced, 3 deleted, 4 expired, 5 evicted, 6 removed. Positions are never
-- used again, so that a reader knows exactly how far it has come.
CREATE TABLE cookie_change (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    cause INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    site BLOB NOT NULL,
    domain BLOB NOT NULL,
    path BLOB NOT NULL,
    name BLOB NOT NULL,
    host_only INTEGER NOT NULL,
    partition_key TEXT NOT NULL,
    PRIMARY KEY (jar_id, position)
) STRICT, WITHOUT ROWID;

-- Sessions saved by name: a copy of the jar's cookies at one moment, sealed as they were.
CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (jar_id, name)
) STRICT;

CREATE TABLE snapshot_cookie (
    snapshot_id INTEGER NOT NULL REFERENCES snapshot (id) ON DELETE CASCADE,
    site BLOB NOT NULL,
    domain BLOB NOT NULL,
    path BLOB NOT NULL,
    name BLOB NOT NULL,
    host_only INTEGER NOT NULL CHECK (host_only IN (0, 1)),
    partition_key TEXT NOT NULL DEFAULT '',
    value BLOB NOT NULL,
    secure INTEGER NOT NULL CHECK (secure IN (0, 1)),
    http_only INTEGER NOT NULL CHECK (http_only IN (0, 1)),
    same_site INTEGER NOT NULL CHECK (same_site BETWEEN 0 AND 3),
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    last_access_at INTEGER NOT NULL,
    capture_id INTEGER,
    source_url TEXT,
    received_at INTEGER,
    PRIMARY KEY (snapshot_id, site, domain, path, name, host_only, partition_key)
) STRICT, WITHOUT ROWID;
