-- Webhooks that hear of some submissions only, and that are never paused by themselves
-- (docs/decisions/0025-webhook-filters.md).

alter table webhooks
  -- A condition of the form language as it was sent (src/ast/logic/condition.ts); null: it hears of every submission.
  add column filter json,
  -- Whether it is paused when every delivery has failed for days (WEBHOOK_PAUSE_DAYS).
  add column pauses_on_failure boolean not null default true;
