-- P006, 2026-11-25: rows of saved sessions name their jar, so that the jar's id can lead their key.
--
-- P006 to P009 are one change in four transactions, so that services that go on meanwhile wait for moments only. Here
-- `snapshot_cookie` is locked, and no row of it is read.
--
-- Programs that know P005 do not name the jar: the trigger does. Once none of them runs, a later migration can drop the
-- trigger with its function, and the index `snapshot_cookie_snapshot` of P007.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P006', 'P001');

-- Not valid yet: P007 reads the rows while others use them.
ALTER TABLE snapshot_cookie
    ADD COLUMN jar_id bigint,
    ADD CONSTRAINT snapshot_cookie_has_jar CHECK (jar_id IS NOT NULL) NOT VALID;

CREATE FUNCTION jar_of_saved_cookie() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        SELECT jar_id INTO NEW.jar_id FROM snapshot WHERE id = NEW.snapshot_id;
        RETURN NEW;
    END
$$;
CREATE TRIGGER snapshot_cookie_jar BEFORE INSERT OR UPDATE ON snapshot_cookie
    FOR EACH ROW WHEN (NEW.jar_id IS NULL) EXECUTE FUNCTION jar_of_saved_cookie();
