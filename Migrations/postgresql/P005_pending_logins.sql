-- P005, 2026-11-25: logins in progress, which any service can continue.
--
-- Programs that know P004 keep theirs in the process, as before.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P005', 'P001');

-- `state_digest` is the SHA-256 of the `state` by which the browser's redirect is found, until the login has ended.
-- `content` is sealed to the other columns.
CREATE TABLE pending_login (
    id text COLLATE "C" PRIMARY KEY,
    state_digest bytea UNIQUE,
    content bytea NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX pending_login_expiry ON pending_login (expires_at);
