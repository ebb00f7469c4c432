-- P004, 2026-11-25: writes that clients may send again with an idempotency key, to any service.
--
-- Programs that know P003 remember them in the process, as before.

SET LOCAL search_path = crumb;

INSERT INTO schema_migration (name, oldest_reader) VALUES ('P004', 'P001');

-- `key` and `request` are digests: of the caller and its key, and of the request. `attempt` is the attempt that has the
-- row until `held_until`; its transactions set `is_committed`, and fail without the row. `answer` is sealed.
CREATE TABLE repeatable_request (
    key bytea PRIMARY KEY,
    request bytea NOT NULL,
    attempt bytea NOT NULL,
    held_until bigint NOT NULL,
    is_committed smallint NOT NULL DEFAULT 0 CHECK (is_committed IN (0, 1)),
    answer bytea,
    expires_at bigint NOT NULL
);
CREATE INDEX repeatable_request_expiry ON repeatable_request (expires_at);
