-- V101, 2026-11-28: the schema of crumb 1.0.
--
-- The first digit of a migration is the major version of crumb. Pre-releases wrote databases with V001 to V019.
--
-- Times are microseconds since 1970-01-01T00:00:00Z. The columns `value`, `private_key`, the tokens and the secrets
-- are sealed: encrypted under a key of `sealing_key`, and bound to the row and the column. Everything else is in the
-- clear, because rules and people need it to find a row.

-- Keys.

-- The keys that values are sealed under. `check_value` is a known text, sealed. It tells a wrong key from a damaged
-- value before anything is read or written.
CREATE TABLE sealing_key (
    id INTEGER PRIMARY KEY,
    check_value BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Jars.

-- `profile` and the columns after `created_at` are the jar's rules and limits; NULL is no limit. `next_sequence` and
-- `next_change` are the next places in the order of creation and in the journal. The newest entry of the journal
-- overrides them if it is further. `first_change` is the first position of the journal: a reader that comes from an
-- earlier one followed another jar of the same name.
--
-- A removed jar has the negative of its former id, and so do its rows: nothing finds them by the id. Its values stay
-- sealed to the former id. `name` is then a name that no jar can have; `removed_name` is the former one.
--
-- Ids are never used again (AUTOINCREMENT): sealed values are bound to them.
CREATE TABLE jar (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    profile TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    domain_cookies INTEGER DEFAULT 180,
    total_cookies INTEGER,
    partition_cookies INTEGER DEFAULT 180,
    partition_octets INTEGER DEFAULT 10240,
    request_cookies INTEGER,
    request_octets INTEGER,
    next_sequence INTEGER NOT NULL DEFAULT 1,
    next_change INTEGER NOT NULL DEFAULT 1,
    first_change INTEGER NOT NULL DEFAULT 1,
    removed_name TEXT,
    removed_at INTEGER
) STRICT;

-- The last change of a jar that can be undone. The jar's cookies and web storage from before the change are a saved
-- session with a name that no other session can have.
CREATE TABLE jar_undo (
    jar_id INTEGER PRIMARY KEY REFERENCES jar (id) ON DELETE CASCADE,
    cause TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT;

-- One row: the highest next position in the journals of all jars that were removed or renamed. A jar that gets a name
-- which another jar had begins its journal there.
CREATE TABLE former_journal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    next_change INTEGER NOT NULL
) STRICT;

-- The header fields that a jar adds to requests. Names ignore case (RFC 9110, section 5.1). `scope` is the beginning
-- of the URLs that get the field, and empty for all URLs.
CREATE TABLE header_field (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    scope TEXT NOT NULL DEFAULT '',
    value BLOB NOT NULL,
    PRIMARY KEY (jar_id, name, scope)
) STRICT, WITHOUT ROWID;

-- What a jar does when a site answers "not signed in". `definition` is a JSON object without secrets.
CREATE TABLE login_rule (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (jar_id, name)
) STRICT, WITHOUT ROWID;

-- Cookies.

-- Captures that were imported completely. `digest` is the SHA-256 of the file: importing it again changes nothing.
-- `from_requests` is 1 if the cookies are those that requests sent, so that their flags were assumed.
CREATE TABLE capture (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    name TEXT NOT NULL,
    imported_at INTEGER NOT NULL,
    from_requests INTEGER NOT NULL DEFAULT 0 CHECK (from_requests IN (0, 1)),
    UNIQUE (jar_id, digest)
) STRICT;

-- The primary key is the identity of a cookie (draft-ietf-httpbis-rfc6265bis-22, section 5.7) with its partition.
-- `site`, the registrable domain, comes first, so that the rows for one request lie together. No column of the key may
-- be NULL: a NULL would let duplicates in.
--
-- `capture_id` is the capture that the value came from, NULL for a live response. `source_url` is the URL of the
-- response without its query, and `received_at` the time of the response.
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
    capture_id INTEGER REFERENCES capture (id) ON DELETE SET NULL,
    source_url TEXT,
    received_at INTEGER,
    PRIMARY KEY (jar_id, site, domain, path, name, host_only, partition_key)
) STRICT, WITHOUT ROWID;

-- The sites that a jar has cookies of, expired ones included: finds a site's cookies in all jars without reading the
-- jars that have none. It changes only with the first and the last cookie of a site. It has no foreign key, which
-- would need an index by jar: the program removes the rows of a jar together with the jar.
CREATE TABLE jar_site (
    site BLOB NOT NULL,
    jar_id INTEGER NOT NULL,
    PRIMARY KEY (site, jar_id)
) STRICT, WITHOUT ROWID;

-- The journal: what changed, in order, without values. The oldest entries of a jar are deleted if there are too many.
--
-- `id` is the jar's id above the position, which takes the 36 lower bits. SQLite appends to a table with such a key,
-- where it would rebalance pages of a table WITHOUT ROWID. Positions are never used again, so that a reader knows how
-- far it has come. There is no foreign key, which would need an index: the program removes the entries with the jar.
--
-- `cause` is 1 stored, 2 replaced, 3 deleted, 4 expired, 5 evicted, 6 removed. `next_sequence` is the jar's next place
-- in the order of creation after the transaction that wrote the entry; 0 if it is the one of `jar`. `capture_id` and
-- `source_url` name the response that deleted or evicted the cookie, and are NULL for other causes. `ended_at` is when
-- that response came, or when the cookie expired; an older request does not bring the cookie back.
CREATE TABLE cookie_change (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    cause INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    site BLOB NOT NULL,
    domain BLOB NOT NULL,
    path BLOB NOT NULL,
    name BLOB NOT NULL,
    host_only INTEGER NOT NULL,
    partition_key TEXT NOT NULL,
    next_sequence INTEGER NOT NULL DEFAULT 0,
    jar_id INTEGER GENERATED ALWAYS AS (id >> 36) VIRTUAL,
    position INTEGER GENERATED ALWAYS AS (id & 68719476735) VIRTUAL,
    capture_id INTEGER,
    source_url TEXT,
    ended_at INTEGER
) STRICT;

-- Partial: a cookie that is stored or replaced touches no further page.
CREATE INDEX cookie_change_ending ON cookie_change (site) WHERE ended_at IS NOT NULL;

-- The newest rejection of each name from a host, without the value. A jar keeps the newest ones. `name` is cut to 256
-- octets, and empty if the line could not be read. `reasons` are identifiers separated by commas. `rejected_at` is
-- when the response came.
CREATE TABLE rejected_cookie (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    site BLOB NOT NULL,
    host BLOB NOT NULL,
    name BLOB NOT NULL,
    reasons TEXT NOT NULL,
    rejected_at INTEGER NOT NULL,
    PRIMARY KEY (jar_id, site, host, name)
) STRICT, WITHOUT ROWID;

-- One row, which lets expired cookies stay until the clock is confirmed: a clock that jumps forward and back loses
-- none of them. Each removal of expired cookies writes it.
--
-- `seen_at` is the last time seen. `elapsed` adds up the steps between such times, each cut to a few hours. `mark_at`
-- is a time seen, and `mark_elapsed` the value of `elapsed` then. A day of `elapsed` later, if the clock was never
-- seen before the mark, `confirmed_at` becomes `mark_at`: cookies that had expired by then may be removed.
CREATE TABLE confirmed_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at INTEGER NOT NULL,
    elapsed INTEGER NOT NULL,
    mark_at INTEGER NOT NULL,
    mark_elapsed INTEGER NOT NULL,
    confirmed_at INTEGER
) STRICT;

-- Saved sessions.

-- A session saved by name: a copy of the jar's cookies and web storage at one moment.
CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (jar_id, name)
) STRICT;

-- The key that `snapshot_cookie` refers to.
CREATE UNIQUE INDEX snapshot_of_jar ON snapshot (jar_id, id);

-- The columns are those of `cookie`. Values stay sealed as they were. The jar's id comes first, so that a server can
-- divide the table by jar.
CREATE TABLE snapshot_cookie (
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

-- An item of a page's localStorage, in the jar (`snapshot_id` 0) or in one of its saved sessions. `origin` is scheme,
-- host and port. `key` and the sealed value are strings of JavaScript in UTF-8; a surrogate without its pair is three
-- octets (WTF-8). The value is bound to jar, origin and key, which stay the same when a session is saved or restored.
-- `sequence` is the order in which the items came.
CREATE TABLE web_storage (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    snapshot_id INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (jar_id, snapshot_id, origin, key)
) STRICT;

-- Tokens.

-- An OAuth2 authorization: issuer, client and account, with a name for people. `generation` counts the changes of the
-- tokens, for compare-and-swap. `settings` is a JSON object without secrets: endpoints, client authentication, and
-- what was requested. `refused_at` is when the server said that the grant is lost. `grant_expires_at` is when the
-- user's permission ends, however often the tokens are renewed; NULL if the server did not say.
--
-- `client_secret` is the client's secret or private key. `proof_key` is the key that tokens are bound to (DPoP).
-- `grant_key` signs assertions in place of a user's login (RFC 7523). `client_certificate` is a certificate chain with
-- its private key in PEM (RFC 8705). `registration_token` manages the client's registration (RFC 7591).
-- `resource_tokens` is a JSON object with an access token for each resource (RFC 8707); a new login empties it.
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
    created_at INTEGER NOT NULL,
    settings TEXT,
    client_secret BLOB,
    proof_key BLOB,
    refused_at INTEGER,
    grant_expires_at INTEGER,
    grant_key BLOB,
    client_certificate BLOB,
    registration_token BLOB,
    resource_tokens BLOB
) STRICT;

CREATE UNIQUE INDEX token_profile_identity ON token_profile (issuer, client_id, account) WHERE issuer <> '';

-- The process that refreshes a profile's tokens. A process that dies does not extend its lease, which then expires.
CREATE TABLE token_lease (
    profile_id INTEGER PRIMARY KEY REFERENCES token_profile (id) ON DELETE CASCADE,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- The journal of all profiles, without tokens. The oldest entries are deleted if there are too many. `cause` is 1
-- stored, 2 refreshed, 3 rotated, 4 refused, 5 removed.
CREATE TABLE token_change (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    cause INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    generation INTEGER NOT NULL
) STRICT;

-- The service and the gateway.

-- An access token of the HTTP service. `digest` is the SHA-256 of the token, which is 256 random bits and stored
-- nowhere. `verbs` are words separated by spaces: read, write, secrets. The token is for all jars, or for the names in
-- `service_token_jar`, whether these jars exist or not. A revoked token stays, so that an audit log can be read later.
CREATE TABLE service_token (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    verbs TEXT NOT NULL,
    is_for_all_jars INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE UNIQUE INDEX service_token_name ON service_token (name) WHERE revoked_at IS NULL;

CREATE TABLE service_token_jar (
    token_id INTEGER NOT NULL REFERENCES service_token (id) ON DELETE CASCADE,
    jar_name TEXT NOT NULL,
    PRIMARY KEY (token_id, jar_name)
) STRICT, WITHOUT ROWID;

-- One row, which counts the changes of access tokens: a service compares it with the tokens that it has in memory.
CREATE TABLE service_token_generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL
) STRICT;

INSERT INTO service_token_generation (id, generation) VALUES (1, 0);

-- At most one row: the certificate authority of the gateway, so that clients trust it only once. `hosts` are the hosts
-- that it may sign for, separated by spaces; `certificate` is in PEM. The private key is bound to all other columns
-- except `id`: if one of them changes, the key cannot be opened.
CREATE TABLE gateway_authority (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    hosts TEXT NOT NULL,
    certificate TEXT NOT NULL,
    private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
