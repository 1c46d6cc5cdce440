-- What a person signs in with beside the password: codes of an app (RFC 6238), passkeys (WebAuthn), and recovery codes
-- for when both are lost. `users.second_factor` says whether there is one of the first two; it is changed in the same
-- transactions as these tables (src/workspaces/second-factor/queries.ts, `settleFactors`).
alter table users add column second_factor boolean not null default false;
-- When the second step of the sign-in was taken; null: it was not, and where the person has a second factor the session
-- opens nothing but this step.
alter table sessions add column second_factor_at timestamptz;

create table totp_secrets (
  user_id       text primary key references users (id) on delete cascade,
  -- Sealed by the vault for 'second factors'.
  secret        bytea not null,
  -- Null while the person has not shown that their app knows it.
  confirmed_at  timestamptz,
  -- The last step of 30 seconds whose code was taken: none is taken twice.
  last_step     bigint not null default 0,
  created_at    timestamptz not null
);

create table recovery_codes (
  user_id  text not null references users (id) on delete cascade,
  -- HMAC with the instance's key: a copy of the database alone does not let anybody try codes.
  hash     text not null,
  primary key (user_id, hash)
);

create table passkeys (
  user_id        text not null references users (id) on delete cascade,
  id             uuid not null,
  credential_id  text not null unique,
  -- SubjectPublicKeyInfo (DER) and its COSE algorithm.
  public_key     bytea not null,
  algorithm      integer not null,
  -- How often the authenticator has signed, by its own count; 0 where it does not count.
  sign_count     bigint not null,
  name           text not null,
  created_at     timestamptz not null,
  last_used_at   timestamptz,
  primary key (user_id, id)
);

-- Whether a member without a second factor is let in.
alter table workspaces add column second_factor_required boolean not null default false;
