import { hostname } from 'node:os';
import { Cron } from 'croner';
import { sayCount } from '#ast/say-count.ts';
import { readBackups } from '#backup/read-backups.ts';
import { findInAllCells } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { LetterField } from '#kit/outbox.ts';
import { selectParked } from '#kit/queue/park-job.ts';
import { only, statement } from '#kit/statement.ts';
import { findClockDoubt } from '#kit/periodic.ts';
import { askValkey, ValkeyError } from '#kit/valkey.ts';
import { readDisks } from '../disks.ts';

/**
 * Webhooks that are paused because they failed, and active ones with a delivery that failed for good since they fail.
 * Deliveries of that time are looked at in their order, and so many at most: the first of them fails first. Of very many the latest:
 * those that nobody takes up again stay for years.
 */
const selectLostWebhooks = statement(
  'watch.select_lost_webhooks',
  '',
  'workspace_id workspace id form_id form:text url is_paused:boolean',
  `/* operator: across workspaces */
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
     join forms on forms.workspace_id = w.workspace_id and forms.id = w.form_id and forms.deleted_at is null
     join workspaces on workspaces.id = w.workspace_id
    order by coalesce(w.paused_at, w.failing_since) desc
    limit 1000`,
);

/** Something that is wrong now and that somebody should see to. */
export type Incident = {
  /** Names it over all processes, for as long as it lasts. */
  key: string;
  /** Whom it concerns: the owners of a workspace, or else the operator. */
  workspaceId?: string;
  /** One sentence, for the log and the subject of the mail. */
  what: string;
  /** What to do about it. */
  remedy: string;
  fields: LetterField[];
  url?: string;
};

export type WatchContext = {
  config: Config;
  database: Database;
  /** Why the mail server has taken nothing lately, in words; undefined: it does, or nothing was to be sent. */
  mailProblem: () => string | undefined;
};

/** Beside what the uploads keep free there should be as much again: below, somebody has to make room soon. */
const roomFactor = 2;
/** A moment of the schedule may be missed, while nothing runs; of three in a row, something is wrong. */
const missedBackups = 3;

/** Everything that is wrong now, as far as this process sees, by what was looked at: what cannot be looked at hides nothing else. */
export const findIncidents = (context: WatchContext): Promise<PromiseSettledResult<Incident[]>[]> =>
  Promise.allSettled([
    lostWebhooks(context),
    lowDisks(context),
    lostBackups(context),
    lostMailServer(context),
    lostValkey(context),
    parkedJobs(context),
    stoppedSweeps(context),
  ]);

async function lostWebhooks({ database, config }: WatchContext): Promise<Incident[]> {
  const lost = await findInAllCells(database, (cells) => selectLostWebhooks(cells, {}), { isPartial: true });
  return lost.map(({ workspace_id, workspace, id, form_id, form, url, is_paused }) => ({
    // A pause is told of although the failure was.
    key: `webhook ${id} ${is_paused ? 'paused' : 'failed'}`,
    workspaceId: workspace_id,
    what: is_paused
      ? `A webhook of “${form}” was paused: it failed for days`
      : `A webhook of “${form}” fails: a delivery has no retries left`,
    remedy: is_paused
      ? 'Nothing is sent any more. Repair the receiver, take up the webhook again, and replay what failed.'
      : 'Repair the receiver; then replay what failed.',
    // Its path may be a secret.
    fields: [
      { label: 'Workspace', value: workspace },
      { label: 'Receiver', value: URL.parse(url)?.origin ?? '' },
    ],
    url: `${config.publicUrl}/app/forms/${form_id}/webhooks/${id}`,
  }));
}

const megabyte = 1024 * 1024;

async function lowDisks({ config }: WatchContext): Promise<Incident[]> {
  const { freeBytes } = config.limits;
  const low = (await readDisks(config)).filter(({ free }) => free < freeBytes * roomFactor);
  return low.map(({ folders: [folder], free }) => ({
    key: `disk ${hostname()} ${folder}`,
    what: `The disk of ${folder} is nearly full`,
    remedy: `Make room, or give it a larger disk. Below ${Math.round(freeBytes / megabyte)} MB (UPLOAD_FREE_MB) uploads are refused; without any the database stops.`,
    fields: [
      { label: 'Machine', value: hostname() },
      { label: 'Free', value: `${Math.floor(free / megabyte)} MB` },
    ],
  }));
}

async function lostBackups({ config, database }: WatchContext): Promise<Incident[]> {
  if (!config.backup) return [];
  return judgeBackups(config.backup, only(await readBackups(database, {}))!);
}

type Backups = Pick<
  Awaited<ReturnType<typeof readBackups>>[number],
  'backup_age' | 'last_problem' | 'last_is_made'
>;

const byHand = 'The log says why. Make one by hand with `formloom backup <file>` until it works again.';

/** Whether what a schedule asks for is not made. One that lacks files may go on for long, and hides none that fails. */
export function judgeBackups(
  { schedule }: NonNullable<Config['backup']>,
  { backup_age: age, last_problem: problem, last_is_made: isMade }: Backups,
): Incident[] {
  const moments = new Cron(schedule, { timezone: 'UTC', paused: true });
  const oldest = moments.previousRuns(missedBackups, now()).at(-1);
  const isOld = oldest !== undefined && now().getTime() - age * 1_000 < oldest.getTime();
  if (problem === null && !isOld) return [];
  const [what, remedy] =
    problem === null
      ? ['The last backup is old', byHand]
      : isMade
        ? ['A backup lacks files', 'The log names them: put them back, or delete what names them.']
        : ['A backup could not be made', byHand];
  return [
    {
      key: isMade && problem !== null ? 'backup files' : 'backup',
      what,
      remedy,
      fields:
        age > 0
          ? [{ label: 'Without a whole one for', value: sayCount(Math.round(age / 3_600), 'hour') }]
          : [],
    },
  ];
}

/** Names the kinds of parked jobs, for the operator. */
export function describeParked(parked: readonly { kind: string }[]): string {
  const kinds = [...Map.groupBy(parked, ({ kind }) => kind)].map(([kind, jobs]) => `${jobs.length} ${kind}`);
  return `${sayCount(parked.length, 'background job was', 'background jobs were')} parked (${kinds.join(', ')}), because the server stopped three times while it worked on each.`;
}
export const retryParked =
  '`npm run -s formloom -- job list` shows them. When the cause is gone, start each again with `job retry <id>`.';

async function parkedJobs({ database }: WatchContext): Promise<Incident[]> {
  const parked = await findInAllCells(database, (cells) => selectParked(cells, { limit: 1_000 }), {
    isPartial: true,
  });
  if (parked.length === 0) return [];
  return [
    {
      key: 'parked jobs',
      what: 'Background jobs were parked',
      remedy: retryParked,
      fields: [{ label: 'What happened', value: describeParked(parked) }],
    },
  ];
}

async function stoppedSweeps({ database }: WatchContext): Promise<Incident[]> {
  const doubt = await findClockDoubt(database);
  if (!doubt) return [];
  return [
    {
      key: 'sweeps',
      what: 'Sweeps have stopped: the clock is in doubt',
      remedy: doubt.remedy,
      fields: [{ label: 'What was seen', value: doubt.what }],
    },
  ];
}

const lostMailServer = async ({ mailProblem }: WatchContext): Promise<Incident[]> => {
  const problem = mailProblem();
  if (problem === undefined) return [];
  return [
    {
      key: 'mail server',
      what: 'The mail server takes no mail',
      remedy: 'Look at SMTP_URL and at the server. Mails wait and are tried again.',
      fields: [{ label: 'What it says', value: problem }],
    },
  ];
};

async function lostValkey({ config: { valkeyUrl } }: WatchContext): Promise<Incident[]> {
  if (valkeyUrl === undefined) return [];
  try {
    await askValkey(valkeyUrl, (valkey) => valkey.ping());
    return [];
  } catch (error) {
    if (!(error instanceof ValkeyError)) throw error;
    return [
      {
        key: 'valkey',
        what: 'The Valkey does not answer',
        remedy:
          'Look at VALKEY_URL and at the server. Until it answers each machine counts requests for itself.',
        fields: [
          { label: 'Machine', value: hostname() },
          { label: 'What was seen', value: error.message },
        ],
      },
    ];
  }
}
