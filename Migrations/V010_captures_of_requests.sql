-- V010, 2026-11-22: cookies that were taken out of requests know it: the capture that they come from is marked.
--
-- Compatible with V009's rows: what was imported before came out of responses and stores.

-- Whether the cookies of this capture are those that its requests sent, so that their flags were assumed.
ALTER TABLE capture ADD COLUMN from_requests INTEGER NOT NULL DEFAULT 0 CHECK (from_requests IN (0, 1));
