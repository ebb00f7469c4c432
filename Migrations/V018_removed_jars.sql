-- V018, 2026-11-26: what removing, clearing and merging jars took away can be restored for a day.
--
-- Compatible with V017's rows: no jar was removed yet.

-- A removed jar: its id is the negative of its former one, as is that of its rows, so that nothing finds them by the
-- id. Values stay sealed to the former id. `name` is one that no jar can have; the real one is in `removed_name`.
ALTER TABLE jar ADD COLUMN removed_name TEXT;
ALTER TABLE jar ADD COLUMN removed_at INTEGER;

-- The change of a jar that can be undone: its cookies and its web storage from before are a saved session with a name
-- that no other can have.
CREATE TABLE jar_undo (
    jar_id INTEGER PRIMARY KEY REFERENCES jar (id) ON DELETE CASCADE,
    cause TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT;
