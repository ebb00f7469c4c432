-- P008, 2026-11-25: the jar's id leads the keys of captures and saved sessions, so that the tables can be divided by jar.
--
-- Locks the tables, and reads no row: the indexes are there, and P009 checks the references. Programs that know P005 find
-- rows by the id alone, with the indexes of P007.

SET LOCAL search_path = crumb;

-- All locks at once, in the order in which most transactions use the tables.
LOCK TABLE cookie, capture, snapshot, snapshot_cookie IN ACCESS EXCLUSIVE MODE;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P008', 'P001');

ALTER TABLE cookie DROP CONSTRAINT cookie_capture_id_fkey;
ALTER TABLE snapshot_cookie DROP CONSTRAINT snapshot_cookie_snapshot_id_fkey;

ALTER TABLE capture
    DROP CONSTRAINT capture_pkey,
    ADD CONSTRAINT capture_pkey PRIMARY KEY USING INDEX capture_of_jar;
ALTER TABLE snapshot
    DROP CONSTRAINT snapshot_pkey,
    ADD CONSTRAINT snapshot_pkey PRIMARY KEY USING INDEX snapshot_of_jar;

-- The constraint spares reading the rows.
ALTER TABLE snapshot_cookie ALTER COLUMN jar_id SET NOT NULL;
ALTER TABLE snapshot_cookie
    DROP CONSTRAINT snapshot_cookie_has_jar,
    DROP CONSTRAINT snapshot_cookie_pkey,
    ADD CONSTRAINT snapshot_cookie_pkey PRIMARY KEY USING INDEX snapshot_cookie_of_jar;

-- The index `cookie_capture` stays by the capture alone: it serves these references as well, and another one would keep
-- every write waiting while all cookies are read.
ALTER TABLE cookie
    ADD CONSTRAINT cookie_capture_fkey FOREIGN KEY (jar_id, capture_id)
    REFERENCES capture (jar_id, id) ON DELETE SET NULL (capture_id) NOT VALID;
ALTER TABLE snapshot_cookie
    ADD CONSTRAINT snapshot_cookie_snapshot_fkey FOREIGN KEY (jar_id, snapshot_id)
    REFERENCES snapshot (jar_id, id) ON DELETE CASCADE NOT VALID;
