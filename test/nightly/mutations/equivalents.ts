/** A change that takes nothing away: what the program does is the same without it, for a reason that no test can show. */
export type Equivalent = { what: string; why: string };

/**
 * By source: what `mutants.ts` says of the change, without its line, and why nothing follows from it. One that no longer
 * names a change is said at the end of a run of all rooms.
 */
export const equivalents: Readonly<Record<string, readonly Equivalent[]>> = {
  'src/app/watch/queries.ts': [
    { what: 'whether or not: failing_since is not null', why: 'nothing is later than a time that is null' },
    {
      what: 'whether or not: deliveries.workspace_id = webhooks.workspace_id',
      why: 'the id of a webhook is of one workspace only; the index begins with the workspace, and the statement is of all',
    },
  ],
  'src/app/watch/watch.ts': [
    {
      what: 'without: if (fresh.length > 0) context.wakeQueue();',
      why: 'the queue looks by itself as well, some seconds later',
    },
  ],
};
