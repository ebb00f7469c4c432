-- V007, 2026-11-22: a jar that is made, or gets a name, where there was another one before goes on in the journal behind
-- it, so that whoever follows the name is told that changes were missed.
--
-- Compatible with V006's rows: jars that are there began at 1.

-- Where a jar's journal begins; a reader that comes from before was following another jar.
ALTER TABLE jar ADD COLUMN first_change INTEGER NOT NULL DEFAULT 1;

-- One row: the highest next place in the journal of all jars that were removed or renamed.
CREATE TABLE former_journal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    next_change INTEGER NOT NULL
) STRICT;
