-- V001, 2026-11-21: the first schema. Jars, cookies and OAuth2 tokens, every value sealed.
--
-- Times are microseconds since 1970-01-01T00:00:00Z. Values are sealed by the program under the key that
-- `sealing_key` names; what stands here in the clear is what rules and people need to find a cookie.

-- The keys that values are sealed under. `check_value` is a known text sealed under the key: it tells a wrong key from
-- a damaged value before anything is read or written.
CREATE TABLE sealing_key (
    id INTEGER PRIMARY KEY,
    check_value BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Ids are never used again (AUTOINCREMENT): they are part of what a sealed value is bound to.
CREATE TABLE jar (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    profile TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The primary key is the identity of a cookie in draft-ietf-httpbis-rfc6265bis-22, section 5.7, with the partition;
-- `site` (the registrable domain) comes first so that the rows one request asks for lie together. No column of it may
-- be NULL: a NULL would let duplicates in.
CREATE TABLE cookie (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
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
    PRIMARY KEY (jar_id, site, domain, path, name, host_only, partition_key)
) STRICT, WITHOUT ROWID;

-- An OAuth2 authorization: issuer, client and account, with a name for people. `generation` counts the changes of the
-- token set, for compare-and-swap.
CREATE TABLE token_profile (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    issuer TEXT NOT NULL DEFAULT '',
    client_id TEXT NOT NULL DEFAULT '',
    account TEXT NOT NULL DEFAULT '',
    token_type TEXT NOT NULL,
    scope TEXT,
    access_token BLOB NOT NULL,
    refresh_token BLOB,
    id_token BLOB,
    received_at INTEGER NOT NULL,
    access_expires_at INTEGER,
    refresh_expires_at INTEGER,
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX token_profile_identity ON token_profile (issuer, client_id, account) WHERE issuer <> '';
