-- Events, deliveries and attempts lie in parts by their ids, which begin with their time, so that what is old goes as a whole
-- (docs/decisions/0088-the-ledger-goes-by-the-day.md). What is there becomes the first part as it is: nothing is read or written.

-- The parts, in order; without gaps, so that there is one for every id. Part 0 is the tables events_0, deliveries_0 and attempts_0.
create table ledger_parts (
  number  integer primary key,
  -- Of ids from this moment on; null: of all before. And of those before that one; null: of all after.
  opens   timestamptz,
  below   timestamptz
);
insert into ledger_parts (number) values (0);

-- A delivery of midnight may lie in the part after its event's. Who removes events removes their deliveries first.
-- The version before: removes them first, too.
alter table deliveries drop constraint deliveries_workspace_id_event_id_fkey;

-- Attempts go with their delivery by a trigger (below): a foreign key between tables of parts looks through all of them when one is
-- dropped, and one between parts is nothing that Citus distributes.
-- The version before: the trigger does what the key did.
alter table attempts drop constraint attempts_workspace_id_delivery_id_fkey;

-- The version before: finds tables of the same names, with the same columns and keys, in their places below.
alter table events rename to events_0;
-- The version before: likewise.
alter table deliveries rename to deliveries_0;
-- The version before: likewise.
alter table attempts rename to attempts_0;
-- The version before: names no index.
alter index events_pkey rename to events_0_pkey;
-- The version before: names no index.
alter index events_of_form rename to events_0_of_form;
-- The version before: names no index.
alter index events_of_submission rename to events_0_of_submission;
-- The version before: names no index.
alter index events_unplaced rename to events_0_unplaced;
-- The version before: names no index.
alter index events_feed rename to events_0_feed;
-- The version before: names no index.
alter index deliveries_pkey rename to deliveries_0_pkey;
-- The version before: names no index.
alter index deliveries_of_webhook rename to deliveries_0_of_webhook;
-- The version before: names no index.
alter index deliveries_of_event rename to deliveries_0_of_event;
-- The version before: names no index.
alter index deliveries_waiting rename to deliveries_0_waiting;
-- The version before: names no index.
alter index attempts_pkey rename to attempts_0_pkey;

create table events (
  like events_0 including defaults including constraints,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
) partition by range (id);
create index events_of_form on events (workspace_id, form_id, id);
create index events_of_submission on events (workspace_id, submission_id, id);
create index events_unplaced on events (workspace_id, id) where position is null and not is_test;
-- Each part has a unique index by position of its own: one over all of them would have to know the id.

create table deliveries (
  like deliveries_0 including defaults including constraints,
  primary key (workspace_id, id),
  foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade
) partition by range (id);
create index deliveries_of_webhook on deliveries (workspace_id, webhook_id, id desc);
create index deliveries_of_event on deliveries (workspace_id, event_id);
create index deliveries_waiting on deliveries (workspace_id, form_id) where status = 'Retrying';

create table attempts (
  like attempts_0 including defaults including constraints,
  primary key (workspace_id, delivery_id, attempt)
) partition by range (delivery_id);

alter table events attach partition events_0 for values from (minvalue) to (maxvalue);
alter table deliveries attach partition deliveries_0 for values from (minvalue) to (maxvalue);
alter table attempts attach partition attempts_0 for values from (minvalue) to (maxvalue);

create function remove_attempts() returns trigger language plpgsql as $$
begin
  delete from attempts where workspace_id = old.workspace_id and delivery_id = old.id;
  return null;
end
$$;
create trigger attempts_of_removed after delete on deliveries
  for each row execute function remove_attempts();
