-- A test that a person sent from the console: it goes the way of every delivery and stands in the log, but counts
-- for nothing.
alter table deliveries add column is_test boolean not null default false;

alter table attempts
  drop constraint attempts_trigger_check,
  add constraint attempts_trigger_check check (trigger in ('schedule', 'manual', 'test')),
  -- Where the request went, and its headers with the signature left out; null when nothing was sent, and for attempts
  -- from before this migration. The body is not kept: an event never changes, so it is made again from it
  -- (src/console/webhooks/deliveries.ts), while six copies of it would be most of the database.
  add column url text,
  add column request_headers json;
