-- Events, deliveries and attempts are ordinary tables again. Rows past their retention are deleted in batches, by id.
-- The rows are copied once: it takes some minutes for each 10 GB, and writers of the log wait (docs/operating/large.md).

create table new_events (like events including defaults including constraints);
insert into new_events select * from events;
create table new_deliveries (like deliveries including defaults including constraints);
-- A delivery without its event cannot be sent, and the foreign key below would refuse it.
insert into new_deliveries
  select d.* from deliveries d join new_events e on e.workspace_id = d.workspace_id and e.id = d.event_id;
create table new_attempts (like attempts including defaults including constraints);
insert into new_attempts
  select a.* from attempts a join new_deliveries d on d.workspace_id = a.workspace_id and d.id = a.delivery_id;

-- The version before: its sweep and its doctor fail until the last of its servers is renewed; it sends and submits as before.
drop table attempts;
-- The version before: finds the new table under this name.
drop table deliveries;
-- The version before: finds the new table under this name.
drop table events;
-- The version before: see above.
drop table ledger_parts;
-- The version before: the foreign key below does what this trigger did.
drop function remove_attempts();

alter table new_events rename to events;
-- The version before: has the same keys in each partition.
alter table events
  add primary key (workspace_id, id),
  add foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade;
create index events_of_form on events (workspace_id, form_id, id);
create index events_of_submission on events (workspace_id, submission_id, id);
create index events_unplaced on events (workspace_id, id) where position is null and not is_test;
-- The version before: has the same index in each partition.
create unique index events_feed on events (workspace_id, position) where position is not null;

alter table new_deliveries rename to deliveries;
-- The version before: has the same keys, and records and deletes deliveries together with their events.
alter table deliveries
  add primary key (workspace_id, id),
  add foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade,
  add foreign key (workspace_id, event_id) references events (workspace_id, id) on delete cascade;
create index deliveries_of_webhook on deliveries (workspace_id, webhook_id, id desc);
create index deliveries_of_event on deliveries (workspace_id, event_id);
create index deliveries_waiting on deliveries (workspace_id, form_id) where status = 'Retrying';

alter table new_attempts rename to attempts;
-- The version before: has the same key, and deletes attempts with their delivery.
alter table attempts
  add primary key (workspace_id, delivery_id, attempt),
  add foreign key (workspace_id, delivery_id) references deliveries (workspace_id, id) on delete cascade;
