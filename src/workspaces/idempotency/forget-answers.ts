import { statement } from '#kit/statement.ts';

/** Forgets what requests were answered: whoever repeats one is told to look whether it took effect. */
export const forgetKeptAnswers = statement(
  'idempotency.forget_kept_answers',
  'workspace_id',
  'key:bytes',
  `update repeatable_requests set status = null, answer = null
   where workspace_id = $workspace_id and answer is not null returning key`,
);

/** What is no longer kept. */
export const pruneRequests = statement(
  'idempotency.prune_requests',
  'kept_from',
  '',
  `/* sweep: across workspaces */ delete from repeatable_requests where begun_at < $kept_from`,
);
