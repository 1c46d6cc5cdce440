import { statement } from '#kit/statement.ts';

/** Begins a request under a key; nothing comes back where one was begun under it within the last `kept_from`. */
export const beginRequest = statement(
  'idempotency.begin_request',
  'workspace_id key:bytes fingerprint now kept_from',
  'begun:boolean',
  `insert into repeatable_requests (workspace_id, key, fingerprint, begun_at)
   values ($workspace_id, $key, $fingerprint, $now)
   on conflict (workspace_id, key) do update set
     fingerprint = excluded.fingerprint, begun_at = excluded.begun_at, status = null, answer = null
     where repeatable_requests.begun_at < $kept_from
   returning true as begun`,
);

export const findRequest = statement(
  'idempotency.find_request',
  'workspace_id key:bytes',
  'fingerprint begun_at status:integer? answer?',
  `select fingerprint, begun_at, status, answer from repeatable_requests
   where workspace_id = $workspace_id and key = $key`,
);

/** Notes what was answered. */
export const endRequest = statement(
  'idempotency.end_request',
  'workspace_id key:bytes status:integer answer?',
  '',
  `update repeatable_requests set status = $status, answer = $answer
   where workspace_id = $workspace_id and key = $key`,
);

/** Forgets a request that was refused: its key is free again. */
export const forgetRequest = statement(
  'idempotency.forget_request',
  'workspace_id key:bytes',
  '',
  `delete from repeatable_requests where workspace_id = $workspace_id and key = $key`,
);

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
