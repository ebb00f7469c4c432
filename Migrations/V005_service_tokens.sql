-- V005, 2026-11-21: who may use the service over HTTP, and for what.
--
-- Compatible with V004's rows: there were no access tokens of the service.

-- `digest` is the SHA-256 of the token, which is 256 random bits: the token itself is nowhere. `verbs` are words with
-- spaces between them: read, write, secrets. A token is for all jars, or for those in `service_token_jar`, whether they
-- exist or not. A token that was revoked stays, so that its name in an audit log can be told what it was.
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

-- One row that counts the changes of who may do what, so that a service knows with one look whether what it has in
-- memory still holds.
CREATE TABLE service_token_generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL
) STRICT;

INSERT INTO service_token_generation (id, generation) VALUES (1, 0);
