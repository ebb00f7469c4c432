-- V014, 2026-11-23: the further secrets of a profile: what its grant is signed with, the certificate that its client
-- shows, what manages its registration, and its access tokens for single resources.
--
-- Compatible with V014's rows: a profile without these is renewed as before.

-- Each is sealed as the other secrets of the profile are. `grant_key`: the private key that signs assertions in the
-- place of a user's login (RFC 7523). `client_certificate`: a certificate chain and its private key in PEM (RFC 8705).
-- `registration_token`: what the server gave for managing the client's registration (RFC 7591). `resource_tokens`: a
-- JSON object with an access token for each resource that one was asked for (RFC 8707); a new login empties it.
ALTER TABLE token_profile ADD COLUMN grant_key BLOB;
ALTER TABLE token_profile ADD COLUMN client_certificate BLOB;
ALTER TABLE token_profile ADD COLUMN registration_token BLOB;
ALTER TABLE token_profile ADD COLUMN resource_tokens BLOB;
