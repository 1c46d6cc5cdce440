-- What is wrong now and was told of: once over all processes, and not again before it was over.
create table incidents (
  key       text primary key,
  began_at  timestamptz not null,
  seen_at   timestamptz not null
);
