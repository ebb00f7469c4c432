-- P010, 2026-11-26: what removing, clearing and merging jars took away can be restored for a day.
--
-- Locks `jar` for a moment, and reads no row. Programs that know P009 list a removed jar under a name that no jar can
-- have, and remove jars for good.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P010', 'P001');

-- A removed jar: its id is the negative of its former one, as is that of its rows, so that nothing finds them by the
-- id. Values stay sealed to the former id. `name` is one that no jar can have; the real one is in `removed_name`.
ALTER TABLE jar
    ADD COLUMN removed_name text COLLATE "C",
    ADD COLUMN removed_at bigint;

-- The change of a jar that can be undone: its cookies and its web storage from before are a saved session with a name
-- that no other can have.
CREATE TABLE jar_undo (
    jar_id bigint PRIMARY KEY REFERENCES jar (id) ON DELETE CASCADE,
    cause text COLLATE "C" NOT NULL,
    made_at bigint NOT NULL
);
