-- Of the instance: cells on other servers than the first (docs/decisions/0078-cells.md).

-- Where the database of a cell is, sealed with the instance's key; null: it is this one.
alter table cells add column server bytea;

-- What a cell on another server is to be told of people: that the little that it knows of somebody is another now, or a line for the audit
-- log of their workspaces. In the order in which it came; a row goes when the cell has it.
create table people_due (
  id       bigint generated always as identity primary key,
  cell     text not null references cells (name) on delete cascade,
  user_id  text not null,
  line     jsonb
);
create index people_due_by_cell on people_due (cell, id);

-- Its trigger is made with the first such cell.
create function note_person_due() returns trigger language plpgsql as $$
begin
  insert into people_due (cell, user_id) select name, old.id from cells where server is not null order by name;
  return null;
end
$$;
