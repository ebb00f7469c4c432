-- V006, 2026-11-22: when the grant behind a profile's tokens ends, and the header fields that a jar's requests carry.
--
-- Compatible with V005's rows: no server's word of a grant's end was kept apart, and no jar had header fields. Where a
-- grant ends before its refresh token, V005 kept the grant's end as that of the refresh token; it stays until the next
-- reply tells.

-- The end of what the user allowed, however often the tokens are renewed until then; NULL where the server did not tell.
ALTER TABLE token_profile ADD COLUMN grant_expires_at INTEGER;

-- Names of header fields know no case (RFC 9110, section 5.1). `scope` is what the URLs begin with that the field is
-- for, and empty for all URLs: no column of the key may be NULL. The value is sealed, since an API key is a secret.
CREATE TABLE header_field (
    jar_id INTEGER NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    scope TEXT NOT NULL DEFAULT '',
    value BLOB NOT NULL,
    PRIMARY KEY (jar_id, name, scope)
) STRICT, WITHOUT ROWID;
