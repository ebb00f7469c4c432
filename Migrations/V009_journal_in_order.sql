-- V009, 2026-11-22: the journal's rows in the order in which they come, so that an entry touches one page.
--
-- Compatible with V008's rows: every entry is there, with the same position. As a table WITHOUT ROWID the journal was
-- an index, whose last page SQLite shares out over its neighbours each time that it is full; to the end of a table by
-- number it appends.

-- `id` is the jar's id and the position, in the 36 lower bits; the other two are made of it. No foreign key: its
-- columns would need an index. Whatever removes a jar removes its entries.
CREATE TABLE cookie_change_in_order (
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
    position INTEGER GENERATED ALWAYS AS (id & 68719476735) VIRTUAL
) STRICT;

INSERT INTO cookie_change_in_order
    (id, cause, changed_at, site, domain, path, name, host_only, partition_key, next_sequence)
SELECT (jar_id << 36) + position, cause, changed_at, site, domain, path, name, host_only, partition_key, next_sequence
FROM cookie_change ORDER BY jar_id, position;

DROP TABLE cookie_change;
ALTER TABLE cookie_change_in_order RENAME TO cookie_change;
