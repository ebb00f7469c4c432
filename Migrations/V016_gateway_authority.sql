-- V016, 2026-11-24: the certificate authority of a gateway, so that clients need to trust it only once.
--
-- Compatible with V015's rows: there was no authority.

-- At most one. `hosts` are the hosts that it may sign for, with spaces between them; `certificate` is in PEM. The private
-- key is sealed to all other columns but `id`: if one of them changes, the key is lost.
CREATE TABLE gateway_authority (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    hosts TEXT NOT NULL,
    certificate TEXT NOT NULL,
    private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
