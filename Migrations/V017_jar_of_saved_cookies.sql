-- V017, 2026-11-25: rows of saved sessions name their jar, whose id leads their key.
--
-- Compatible with V016's rows: every saved cookie is there, with the jar of its session. Values stay sealed as they are.
-- A server can then divide the table by jar (`Migrations/postgresql/P008_keys_of_jars.sql`).

-- What the rows refer to.
CREATE UNIQUE INDEX snapshot_of_jar ON snapshot (jar_id, id);

CREATE TABLE snapshot_cookie_of_jar (
    jar_id INTEGER NOT NULL,
    snapshot_id INTEGER NOT NULL,
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
    PRIMARY KEY (jar_id, snapshot_id, site, domain, path, name, host_only, partition_key),
    FOREIGN KEY (jar_id, snapshot_id) REFERENCES snapshot (jar_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

INSERT INTO snapshot_cookie_of_jar
SELECT jar_id, snapshot_id, site, domain, path, snapshot_cookie.name, host_only, partition_key, value, secure, http_only,
    same_site, expires_at, snapshot_cookie.created_at, sequence, last_access_at, capture_id, source_url, received_at
FROM snapshot CROSS JOIN snapshot_cookie WHERE snapshot_cookie.snapshot_id = snapshot.id;

DROP TABLE snapshot_cookie;
ALTER TABLE snapshot_cookie_of_jar RENAME TO snapshot_cookie;
