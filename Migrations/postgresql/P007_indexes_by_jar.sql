-- P007, 2026-11-25: the indexes of the keys that P008 gives to captures and saved sessions.
--
-- This reads the three tables, and writes each saved cookie. Others can read them meanwhile, but not write: responses are
-- stored and requests decorated, while imports wait, and what changes saved sessions or takes cookies out of a jar.

SET LOCAL search_path = crumb;

-- All locks at once, before there is anything to lose in a deadlock.
LOCK TABLE capture, snapshot, snapshot_cookie IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P007', 'P001');

UPDATE snapshot_cookie SET jar_id = snapshot.jar_id FROM snapshot
WHERE snapshot.id = snapshot_cookie.snapshot_id AND snapshot_cookie.jar_id IS NULL;
ALTER TABLE snapshot_cookie VALIDATE CONSTRAINT snapshot_cookie_has_jar;

CREATE UNIQUE INDEX capture_of_jar ON capture (jar_id, id);
CREATE UNIQUE INDEX snapshot_of_jar ON snapshot (jar_id, id);
CREATE UNIQUE INDEX snapshot_cookie_of_jar
    ON snapshot_cookie (jar_id, snapshot_id, site, domain, path, name, host_only, partition_key);

-- Ids are unique in the whole database, since a file needs them to be. Moving a jar looks for ids that are taken, and for
-- the highest one.
CREATE INDEX capture_id ON capture (id);
CREATE INDEX snapshot_id ON snapshot (id);

-- For programs that know P005 alone.
CREATE INDEX snapshot_cookie_snapshot ON snapshot_cookie (snapshot_id);
