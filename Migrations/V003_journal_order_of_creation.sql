-- V003, 2026-11-21: the journal says how far a jar has come, so that a transaction writes no row of `jar`.
--
-- `next_sequence` of a jar's newest entry is its next place in the order of creation when the transaction ended that
-- wrote the entry; the next place in the journal is the one after that entry. The columns of `jar` count where they are
-- larger: in entries of before (0 here), and where the journal was emptied.
ALTER TABLE cookie_change ADD COLUMN next_sequence INTEGER NOT NULL DEFAULT 0;
