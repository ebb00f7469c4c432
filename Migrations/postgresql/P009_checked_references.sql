-- P009, 2026-11-25: the references that P008 made are checked for rows from before.
--
-- Reads all cookies, which can take long. Reads and writes go on. Programs that know P008 need no more.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P009', 'P001');

ALTER TABLE snapshot_cookie VALIDATE CONSTRAINT snapshot_cookie_snapshot_fkey;
ALTER TABLE cookie VALIDATE CONSTRAINT cookie_capture_fkey;
