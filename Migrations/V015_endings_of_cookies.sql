-- V015, 2026-11-23: the journal says when a cookie ended, so that an older request does not bring it back.
--
-- Compatible with V014's rows: what a live response deleted ended when its entry was written. Other older entries have
-- NULL.

-- When the response came that deleted the cookie, or when its lifetime was over. A capture is imported later than that,
-- so `changed_at` does not tell. NULL for other causes.
ALTER TABLE cookie_change ADD COLUMN ended_at INTEGER;

UPDATE cookie_change SET ended_at = changed_at
WHERE cause = 3 AND capture_id IS NULL AND source_url IS NOT NULL;

-- Only endings pay for it: a cookie that is stored or replaced touches no further page.
CREATE INDEX cookie_change_ending ON cookie_change (site) WHERE ended_at IS NOT NULL;
