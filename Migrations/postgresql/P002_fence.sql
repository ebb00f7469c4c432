-- P002, 2026-11-25: how services tell that a server is still the primary, and since when it has been.
--
-- Every service writes the row of `heartbeat` each second. A former primary that still runs cannot: its commits wait
-- for standbys that follow another server. Programs that know P001 write only `at`, and can go on.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P002', 'P001');

-- The timeline that the server writes: each promotion begins another one.
CREATE FUNCTION current_timeline() RETURNS text LANGUAGE sql VOLATILE
    AS 'SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

-- Since when the timeline has been that of the heartbeat.
ALTER TABLE heartbeat
    ADD COLUMN timeline text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN timeline_since timestamptz NOT NULL DEFAULT '-infinity';
UPDATE heartbeat SET at = clock_timestamp(), timeline = current_timeline();

-- Whether the server may answer: 0 if it may; 1 if no heartbeat was committed in the last 5 seconds, so that nothing is
-- read or written; 2 if it has been the primary for less than 5 seconds, so that nothing is written: until then, the
-- former primary may answer reads. A heartbeat of the future is from before the clock was set back.
CREATE FUNCTION fence() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN at NOT BETWEEN now - interval '5 s' AND now + interval '1 s' THEN 1
        WHEN timeline <> current_timeline() OR timeline_since > now - interval '5 s' THEN 2
        ELSE 0 END
    FROM heartbeat, (SELECT clock_timestamp() AS now) AS clock
$$;
