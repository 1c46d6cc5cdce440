-- Of the instance: a cell that is lost for good can be let go of (docs/decisions/0078-cells.md).

-- What a cell is known by, also where another one has had its name; and what it had when it was last seen.
alter table cells
  add column id uuid,
  add column workspaces bigint,
  add column forms bigint,
  add column seen_at timestamptz;
