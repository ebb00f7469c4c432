-- V011, 2026-11-22: the journal names the response that deleted or evicted a cookie.
--
-- Compatible with V010's rows: older entries have NULL. Entries of other causes have NULL too: where a stored or replaced
-- cookie came from is in its own row.

-- The capture that the response came out of (NULL for a live response), and its URL without the query. Capture ids are
-- never used again, so an id whose capture is gone names none.
ALTER TABLE cookie_change ADD COLUMN capture_id INTEGER;
ALTER TABLE cookie_change ADD COLUMN source_url TEXT;
