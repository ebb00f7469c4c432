-- V012, 2026-11-22: which jars have cookies of a site, so that looking for a site's cookies in all jars takes no longer
-- for the jars that have none.
--
-- Compatible with V011's rows: the table is filled from the cookies.

-- A row for each site that a jar has cookies of, expired ones included. An index of `cookie` would hold each cookie's
-- whole identity, and change with each cookie; this changes with the first and the last cookie of a site alone. It
-- references no jar: a foreign key would need an index by jar. The program removes the rows of a jar with the jar.
CREATE TABLE jar_site (
    site BLOB NOT NULL,
    jar_id INTEGER NOT NULL,
    PRIMARY KEY (site, jar_id)
) STRICT, WITHOUT ROWID;

INSERT INTO jar_site (site, jar_id) SELECT DISTINCT site, jar_id FROM cookie;
