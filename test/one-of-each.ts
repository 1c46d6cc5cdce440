import { element } from '#ast/testing.ts';
import { newId } from '#kit/clock.ts';
import { signIn } from './console.ts';
import { openReceiver } from './receiver.ts';
import { type Tenant, type TestService, until } from './service.ts';
import { makeForm, openVisitor } from './visitor.ts';

/** One thing of each kind that a path of the API can name, by the words before its id; `key` may do everything. */
export type OneOfEach = Readonly<Record<string, string>> & { key: string };

/**
 * Makes one of each in a workspace: a form with a submission, a webhook with a failed delivery and a replay that is over,
 * a viewer, an invitation of another, a key, and failed mails.
 */
export async function makeOneOfEach(service: TestService, tenant: Tenant): Promise<OneOfEach> {
  const key = await tenant.makeFullKey();
  const call = async (method: string, path: string, body?: unknown) =>
    (await tenant.call(method, path, body, { Authorization: `Bearer ${key}` })).body;
  const form = await makeForm(tenant, [element('text', 'a'), element('file_upload', 'file')]);
  const receiver = await openReceiver();
  receiver.replyWith(404);
  const webhook = await call('POST', `/forms/${form.id}/webhooks`, {
    url: receiver.url,
    events: ['submission.created'],
  });
  const submission = await openVisitor(service).submit(form.id, { a: 'word' }, '?ref=1');
  const delivery = await until('the delivery to fail', async () => {
    const { data } = await call('GET', `/webhooks/${webhook.id}/deliveries`);
    return data[0]?.status === 'Failed' && data[0];
  });
  const replay = await call('POST', `/webhooks/${webhook.id}/replays`, { status: 'Success' });
  const { userId: member } = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const email = `invited-${member}@example.org`;
  const invitation = await call('POST', '/members', { email, role: 'viewer' });
  const otherKey = await call('POST', '/keys', { name: 'Other' });
  const mails = [newId(), newId(), newId()];
  await service.services.database.query(
    `insert into mails (workspace_id, id, kind, recipient, subject, state, created_at)
     select $1, id, 'receipt', 'ada@example.org', 'Thank you', 'failed', now() from unnest($2::uuid[]) as given (id)`,
    [tenant.workspaceId, mails],
  );
  return {
    key,
    members: member,
    'members/invitations': invitation.id,
    keys: otherKey.id,
    mails: mails[0]!,
    forms: form.id,
    submissions: submission.body.id,
    webhooks: webhook.id,
    deliveries: delivery.id,
    replays: replay.id,
  };
}

/** The id that stands for `:id` (or `{id}`) in a path. */
export const idIn = (path: string, made: OneOfEach): string =>
  made[path.slice(1).split(/\/(?::|\{)id/, 1)[0]!]!;
