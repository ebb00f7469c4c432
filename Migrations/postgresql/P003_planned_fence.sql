-- P003, 2026-11-25: the question of each statement whether the server may answer, at a fraction of its cost.
--
-- A function in SQL that reads a table is planned in every call, which took longer than all else that a request needed.
-- One in PL/pgSQL keeps its plan. Programs that know P002 ask it as before.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P003', 'P001');

-- As in P002.
CREATE OR REPLACE FUNCTION fence() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        RETURN (
            SELECT CASE
                WHEN at NOT BETWEEN now - interval '5 s' AND now + interval '1 s' THEN 1
                WHEN timeline <> current_timeline() OR timeline_since > now - interval '5 s' THEN 2
                ELSE 0 END
            FROM heartbeat, (SELECT clock_timestamp() AS now) AS clock
        );
    END
$$;
