import { findInAllCells } from '#cells/across-cells.ts';
import { sendMailJobKind } from '#kit/outbox.ts';
import { jsonb, statement } from '#kit/statement.ts';
import { deliverJobKind } from '#webhooks/delivery-job.ts';
import type { Check } from './check.ts';
import type { InstanceFacts } from './facts.ts';

/**
 * Finds webhooks that were paused because they failed, and active ones with a delivery that failed
 * permanently since they began to fail. It looks at the first 500 deliveries since then, because the first
 * one fails first. It returns the latest 1,000 webhooks, because abandoned ones stay for years.
 */
const selectLostWebhooks = statement(
  '',
  'workspace_id workspace id form_id? form:text? url is_paused:boolean',
)`
  /* operator: across workspaces */
  select w.workspace_id, workspaces.name as workspace, w.id, w.form_id, forms.name as form, w.url, not w.active as is_paused
    from (
      select * from webhooks where paused_by = 'failure'
      union all
      select * from webhooks
       where failing_since is not null and active
         and exists (
           select from (
             select status, is_test from deliveries
              where deliveries.workspace_id = webhooks.workspace_id and deliveries.webhook_id = webhooks.id
                and deliveries.id >= (lpad(to_hex(floor(extract(epoch from failing_since) * 1000)::bigint - 60000), 12, '0')
                                      || repeat('0', 20))::uuid
                and deliveries.created_at >= failing_since
              order by deliveries.id
              limit 500) as since
            where status = 'Failed' and not is_test)
    ) as w
    left join forms on forms.workspace_id = w.workspace_id and forms.id = w.form_id and forms.deleted_at is null
    join workspaces on workspaces.id = w.workspace_id
   where w.form_id is null or forms.id is not null
   order by coalesce(w.paused_at, w.failing_since) desc
   limit 1000`;

/** The maximum number of jobs and deliveries that are counted. */
const most = 10_000;

/**
 * Reads due jobs, waiting deliveries and failing webhooks. It reads at most `most` jobs and deliveries, by
 * index, so its cost is bounded.
 */
const readQueue = statement('most', [
  'deliveries_waiting:bigint webhooks_failing:bigint webhooks_paused:bigint',
  {
    /** By kind: how many are due, and for how many seconds the oldest has been due. */
    jobs: jsonb<{ kind: string; due: number; oldest: number }[]>(),
  },
])`
  /* operator: across workspaces */
  select
    (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'due', due, 'oldest', oldest)), '[]')
       from (select kind, count(*) as due, extract(epoch from now() - min(run_at))::double precision as oldest
               from (select kind, run_at from jobs where run_at <= now() order by run_at limit $most) as job
              group by kind) as due) as jobs,
    (select count(*) from (select id from deliveries where status = 'Retrying' limit $most) as waiting) as deliveries_waiting,
    (select count(*) from webhooks where failing_since is not null and active) as webhooks_failing,
    (select count(*) from webhooks where paused_by = 'failure') as webhooks_paused`;

/** Published even if no job of the kind is due, so that alert rules read 0 instead of no value. */
const alwaysPublished = [deliverJobKind, sendMailJobKind].map((kind) => ({ kind, due: 0, oldest: 0 }));

const ownerOf = (form: string | null): string => (form === null ? 'all forms' : `“${form}”`);

/**
 * Checks of webhooks and the queue. `doctor` does not print these checks, because the owners of workspaces
 * fix their webhooks.
 */
export const deliveryChecks: readonly Check<InstanceFacts>[] = [
  {
    id: 'webhooks',
    severity: 'notice',
    async incidents({ config, database }) {
      const lost = await findInAllCells(database, (cells) => selectLostWebhooks(cells, {}), {
        isPartial: true,
      });
      return lost.map(({ workspace_id, workspace, id, form_id, form, url, is_paused }) => ({
        // A pause is a separate incident from the failure before it.
        key: `webhook ${id} ${is_paused ? 'paused' : 'failed'}`,
        workspaceId: workspace_id,
        what: is_paused
          ? `A webhook for ${ownerOf(form)} was paused after failing for days`
          : `A webhook for ${ownerOf(form)} is failing: a delivery has no retries left`,
        remedy: is_paused
          ? 'The webhook sends no more events. Fix the endpoint, resume the webhook, and replay the failed events.'
          : 'Fix the endpoint, then replay the failed events.',
        // Only the origin of the URL, because its path may be secret.
        fields: [
          { label: 'Workspace', value: workspace },
          { label: 'Receiver', value: URL.parse(url)?.origin ?? '' },
        ],
        url: `${config.publicUrl}/app/${form_id === null ? `w/${workspace_id}/settings` : `forms/${form_id}`}/webhooks/${id}`,
      }));
    },
  },
  {
    id: 'queue',
    severity: 'notice',
    async gauges({ database }) {
      const cells = await findInAllCells(database, (each) => readQueue(each, { most }), { isPartial: true });
      const sum = (of: 'deliveries_waiting' | 'webhooks_failing' | 'webhooks_paused') =>
        cells.reduce((total, cell) => total + cell[of], 0);
      const jobs = Map.groupBy(
        [...alwaysPublished, ...cells.flatMap((cell) => cell.jobs)],
        ({ kind }) => kind,
      );
      const byKind = (of: (jobs: typeof alwaysPublished) => number) =>
        [...jobs].map(([kind, each]) => ({ labels: { kind }, value: of(each) }));
      const due = byKind((each) => each.reduce((total, job) => total + job.due, 0));
      const oldest = byKind((each) => Math.max(...each.map((job) => job.oldest)));
      return [
        ['jobs_due', `Due jobs by kind. At most ${most} are counted.`, due],
        ['jobs_oldest_due_seconds', 'Age of the oldest due job of each kind.', oldest],
        [
          'deliveries_waiting',
          `Webhook deliveries waiting for their next attempt. At most ${most} are counted.`,
          sum('deliveries_waiting'),
        ],
        ['webhooks_failing', 'Active webhooks whose deliveries are all failing.', sum('webhooks_failing')],
        ['webhooks_paused', 'Webhooks that were paused after failing for days.', sum('webhooks_paused')],
      ];
    },
  },
];
