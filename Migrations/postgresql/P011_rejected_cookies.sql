-- P011, 2026-11-27: which cookies responses tried to set and the rules rejected, without their values.
--
-- Locks `jar` for a moment, and reads no row. Programs that know P010 record no rejection.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P011', 'P001');

-- The newest rejection of each name from a host; a jar keeps the newest ones. `name` is cut to 256 octets, and empty if
-- the line could not be read. `reasons` are identifiers separated by commas. `rejected_at` is when the response came.
CREATE TABLE rejected_cookie (
    jar_id bigint NOT NULL REFERENCES jar (id) ON DELETE CASCADE,
    site bytea NOT NULL,
    host bytea NOT NULL,
    name bytea NOT NULL,
    reasons text COLLATE "C" NOT NULL,
    rejected_at bigint NOT NULL,
    PRIMARY KEY (jar_id, site, host, name)
);
