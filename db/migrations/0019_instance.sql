-- What this instance is: one row. The fingerprint is derived from the instance's key (SECRET_KEY) and does not tell it.

create table instance (
  singleton       boolean primary key default true check (singleton),
  key_fingerprint text not null
);
