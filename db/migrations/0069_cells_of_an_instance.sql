-- Of the instance: no cell has these (docs/decisions/0078-cells.md).

-- Where workspaces lie, once there is more than one cell; empty while there is one. The first row is the schema that has this table.
create table cells (
  name         text primary key,
  schema_name  text not null unique,
  created_at   timestamptz not null default clock_timestamp()
);

-- Which cell has a workspace or a form (the 16 bytes of its id) or an API key (the 32 of its hash). Written by triggers, which are
-- made with the second cell, in the transaction that makes the thing; what is here once is nowhere else.
create table directory (
  id    bytea primary key,
  cell  text not null references cells (name)
);
create index directory_by_cell on directory (cell);
