import { type Static, Type } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { markJsonList, markJsonText } from '#kit/http.ts';
import { operation } from '#kit/operation.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { type AccessibleForms, requireFormAccess } from '#workspaces/authenticate.ts';
import { Event, eventKinds } from './event.ts';
import type { FeedNotifier } from './feed-notifier.ts';
import { type FeedPage, type FeedRequest, findFeedEnd, readFeed } from './read-feed.ts';
import { requireWebhook } from './read-webhooks.ts';

const findFormOfFeed = statement('workspace_id id', 'id')`
  select id from forms where workspace_id = $workspace_id and id = $id and deleted_at is null`;

/** The longest time that a poll waits, in seconds. Many proxies give up after a minute. */
const longestWait = 30;

const EventPage = Type.Object({
  data: Type.Array(Event),
  next: Type.String({ description: 'The value of `after` for the next page.' }),
  has_more: Type.Boolean(),
});

const query = strictObject({
  after: Type.Optional(
    Type.String({
      pattern: '^([0-9]{1,15}|now)$',
      description:
        '`next` of the previous page, or `now` for events from now on. If omitted, the page begins with the oldest stored event.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'The maximum number of events.' }),
  ),
  form_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only events of this form.' })),
  webhook_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only events that this webhook receives, with the `delivery_id`s of its deliveries.',
    }),
  ),
  event: Type.Optional(Type.Enum([...eventKinds], { description: 'Only events of this kind.' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: longestWait,
      default: 0,
      description: 'Seconds to wait for the next event if there is none.',
    }),
  ),
});

/** Returns the URL of the event feed of a form. */
export const feedUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, formId: string): string =>
  `${publicUrl}/api/v1/events?form_id=${formId}`;

type FeedServices = { database: Database; links: FileLinks; config: Config; feedBell: FeedNotifier };

/**
 * Operations of the event feed, which has the same events that webhooks send. It is for receivers that cannot
 * be reached or missed events (docs/decisions/0018).
 */
export function feedEndpoints(services: FeedServices) {
  const { database, feedBell, config } = services;
  return {
    listEvents: operation({
      summary: 'List events',
      description: `Returns the events of the workspace, oldest first, in the format of webhook bodies. Continue with \`next\`: no event is skipped or repeated. If \`has_more\` is true, request the next page without waiting, even if this page is empty. \`delivery_id\` is the id of the event, which is also the id of its first delivery. To get the delivery ids of a certain webhook, send its \`webhook_id\`. The first request turns the feed on: earlier events are included only if a webhook received them. A feed that is not read for 30 days is turned off. Events are kept for ${config.deliveryRetentionDays} days. 410 if the cursor is older. Deleting a form deletes its events.`,
      permission: 'events:read',
      query,
      reply: { status: 200, description: 'The next events.', schema: EventPage },
      errors: ['gone'],
      async run({
        workspaceId,
        formIds,
        query: { after, limit = 50, form_id, webhook_id, event, wait = 0 },
      }) {
        await requireTarget(database, workspaceId, formIds, { form_id, webhook_id });
        const question: FeedRequest = {
          workspaceId,
          after: after === 'now' ? await findFeedEnd(services, workspaceId) : readCursor(after),
          limit,
          formIds: form_id === undefined ? formIds : [form_id],
          kind: event,
          webhookId: webhook_id,
        };
        const page = await readOrWait(services, feedBell, question, wait * 1_000);
        return {
          json: markJsonList<Static<typeof EventPage>>(
            page.bodies.map((body) => markJsonText<Static<typeof Event>>(body)),
            { next: String(page.next), has_more: page.hasMore },
          ),
        };
      },
    }),
  };
}

const readCursor = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** @throws ApiError not_found if the given form or webhook does not exist, or the caller cannot use it. */
async function requireTarget(
  database: Database,
  workspaceId: string,
  reach: AccessibleForms,
  { form_id, webhook_id }: { form_id?: string | undefined; webhook_id?: string | undefined },
): Promise<void> {
  if (form_id !== undefined) {
    requireFormAccess(reach, form_id);
    requireRow(await findFormOfFeed(database, { workspace_id: workspaceId, id: form_id }));
  }
  if (webhook_id !== undefined) await requireWebhook(database, { workspaceId, formIds: reach }, webhook_id);
}

/** Returns a page with events. If none arrive in time, returns an empty page. */
async function readOrWait(
  services: FeedServices,
  bell: FeedNotifier,
  question: FeedRequest,
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
