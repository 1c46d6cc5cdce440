-- Of the instance: a cell that is lost for good can be let go of (docs/decisions/0078-cells.md).

-- What a cell is known by, also where another one has had its name; and what it had when it was last seen.
alter table cells
  add column id uuid,
  add column workspaces bigint,
  add column forms bigint,
  add column seen_at timestamptz;

-- Something that is wrong is noted first, and told then: who is lost in between leaves it to the next. What the version before notes is told
-- as it is noted.
alter table incidents add column is_told boolean not null default true;
