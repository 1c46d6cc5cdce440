import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { jsonList, jsonText } from '#kit/http.ts';
import { operation } from '#kit/operation.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { type Reach, requireReach } from '#workspaces/authenticate.ts';
import { Event, eventKinds } from './event.ts';
import type { FeedBell } from './feed-bell.ts';
import { reachWebhook } from './log.ts';
import { type FeedPage, type FeedQuestion, findEnd, readFeed } from './read-feed.ts';

/** Whether a form is there. */
const findFormOfFeed = statement(
  'webhooks.find_form_of_feed',
  'workspace_id id',
  'id',
  `select id from forms where workspace_id = $workspace_id and id = $id and deleted_at is null`,
);

/** What a poll may wait at most, in seconds: below the minute after which many proxies give up. */
const longestWait = 30;

const EventPage = Type.Object({
  data: Type.Array(Event),
  next: Type.String({ description: 'The cursor for `after`.' }),
  has_more: Type.Boolean(),
});

const query = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^([0-9]{1,15}|now)$',
        description:
          '`next` of the page before, or `now`: what happens from now on. Without it, from the oldest event that is kept.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'How many at most.' }),
    ),
    form_id: Type.Optional(Type.String({ format: 'uuid', description: 'Of this form only.' })),
    webhook_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'What this webhook hears of, with the `delivery_id`s under which it does.',
      }),
    ),
    event: Type.Optional(Type.Enum([...eventKinds], { description: 'Of this kind only.' })),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: longestWait,
        default: 0,
        description: 'Seconds to wait for the next event when there is none.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Where the events of a form are pulled. */
export const feedUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, formId: string): string =>
  `${publicUrl}/api/v1/events?form_id=${formId}`;

type FeedServices = { database: Database; links: FileLinks; config: Config; feedBell: FeedBell };

/** The pull feed: what webhooks tell, for who cannot be reached, or was not (docs/decisions/0018). */
export function feedEndpoints(services: FeedServices) {
  const { database, feedBell, config } = services;
  return {
    listEvents: operation({
      summary: 'List events',
      description: `The events of the workspace, oldest first, with the bodies of webhooks. Go on with \`next\`: no event is passed by, and none comes twice. \`has_more\` says that the next page need not be waited for; a page may be empty and still have one. \`delivery_id\` is the event's own id, which is that of its delivery when one webhook hears of it; for the ids of another one, name it in \`webhook_id\`. The first request switches the feed on: earlier events are there only as far as a webhook heard of them. A feed that is not read for 30 days is switched off. Events are kept for ${config.deliveryRetentionDays} days; a cursor from before that is answered with 410. Events of a form that was deleted are gone with it.`,
      permission: 'events:read',
      query,
      reply: {
        status: 200,
        description: 'The next events.',
        schema: EventPage,
      },
      errors: ['gone'],
      async run({
        workspaceId,
        formIds,
        query: { after, limit = 50, form_id, webhook_id, event, wait = 0 },
      }) {
        await requireTarget(database, workspaceId, formIds, { form_id, webhook_id });
        const question: FeedQuestion = {
          workspaceId,
          after: after === 'now' ? await findEnd(services, workspaceId) : readCursor(after),
          limit,
          formIds: form_id === undefined ? formIds : [form_id],
          kind: event,
          webhookId: webhook_id,
        };
        const page = await readOrWait(services, feedBell, question, wait * 1_000);
        return {
          json: jsonList<Static<typeof EventPage>>(
            page.bodies.map((body) => jsonText<Static<typeof Event>>(body)),
            { next: String(page.next), has_more: page.hasMore },
          ),
        };
      },
    }),
  };
}

const readCursor = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** @throws ApiError not_found when the form or webhook that is named is not within reach. */
async function requireTarget(
  database: Database,
  workspaceId: string,
  reach: Reach,
  { form_id, webhook_id }: { form_id?: string | undefined; webhook_id?: string | undefined },
): Promise<void> {
  if (form_id !== undefined) {
    requireReach(reach, form_id);
    requireRow(await findFormOfFeed(database, { workspace_id: workspaceId, id: form_id }));
  }
  if (webhook_id !== undefined) {
    await reachWebhook(database, { workspaceId, formIds: reach }, webhook_id);
  }
}

/** A page with something in it, or what there is when the time is over. */
async function readOrWait(
  services: FeedServices,
  bell: FeedBell,
  question: FeedQuestion,
  ms: number,
): Promise<FeedPage> {
  const end = performance.now() + ms;
  for (let page = await readFeed(services, question); ; ) {
    const left = end - performance.now();
    if (page.bodies.length > 0 || page.hasMore || left <= 0) return page;
    if (!(await bell.wait(question.workspaceId, page.next, left))) return page;
    page = await readFeed(services, { ...question, after: page.next });
  }
}
