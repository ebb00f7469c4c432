-- V004, 2026-11-21: how a profile's tokens are got and renewed, who renews them at present, what changed, and what a
-- jar does where a site says "not signed in".
--
-- Compatible with V003's rows: a profile without settings cannot be refreshed, as before.

-- `settings` is a JSON object without secrets: endpoints, client authentication, what was asked for. The secrets are
-- sealed as tokens are: the client's secret or private key, and the key that tokens are bound to (DPoP).
-- `refused_at`: when the server said that the grant is lost; NULL while it is not known to be.
ALTER TABLE token_profile ADD COLUMN settings TEXT;
ALTER TABLE token_profile ADD COLUMN client_secret BLOB;
ALTER TABLE token_profile ADD COLUMN proof_key BLOB;
ALTER TABLE token_profile ADD COLUMN refused_at INTEGER;

-- Who refreshes a profile's tokens, and until when that is to be believed: a holder that dies renews it no more.
CREATE TABLE token_lease (
    profile_id INTEGER PRIMARY KEY REFERENCES token_profile (id) ON DELETE CASCADE,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- What changed, in order, without tokens; the oldest entries go when there are too many. `cause` is one of the causes
-- that the program knows: 1 stored, 2 refreshed, 3 rotated, 4 refused, 5 removed.
CREATE TABLE token_change (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    cause INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    generation INTEGER NOT NULL
) STRICT;

-- What a jar does where a site says "not signed in": a JSON object without secrets, in the order of names.
CREATE TABLE login_rule (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (jar_id, name)
) STRICT, WITHOUT ROWID;
