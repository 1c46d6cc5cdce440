import type { ApiRoute } from '#app/operations/operations.ts';
import { newId } from '#kit/clock.ts';
import { element, structure } from './ast/forms.ts';
import { signIn } from './console.ts';
import { openReceiver } from './receiver.ts';
import { type Tenant, type TestService, until } from './service.ts';
import { asJson, makeForm, openVisitor } from './visitor.ts';

/**
 * One id for each type of resource in API paths, by the words before the id or by parameter name. `key` has
 * every permission.
 */
export type OneOfEach = Readonly<Record<string, string>> & { key: string };

/**
 * Creates one of each resource in a workspace: a form with a submission, a note, spam and bulk changes, a
 * webhook with a failed delivery and an ended replay. Also an erasure, a viewer, a member invitation, a key
 * and failed emails.
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
  await signIn(service, { workspaceId: tenant.workspaceId });
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
  const note = await call('POST', `/submissions/${submission.body.id}/notes`, { text: 'A note.' });
  const view = await call('POST', `/forms/${form.id}/views`, { name: 'All', query: {} });
  const share = await call('POST', `/forms/${form.id}/shares`, {});
  const domain = await call('POST', '/domains', { domain: `${newId()}.example.com` });
  await tenant.database.query(
    'insert into domain_lookup select domain, workspace_id, id, created_at from domains where id = $1',
    [domain.id],
  );
  const begun = { filter: { status: 'incomplete' } };
  const deletion = await call('POST', `/forms/${form.id}/submissions/deletions`, begun);
  const tagging = await call('POST', `/forms/${form.id}/submissions/taggings`, { ...begun, add: ['tag'] });
  const erasure = await call('POST', '/people/erasures', { q: 'unknown@example.org', what: 'submissions' });
  await holdOne(service, form.id);
  const spam = await call('GET', `/forms/${form.id}/spam`);
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
    views: view.id,
    shares: share.id,
    domains: domain.id,
    'people/erasures': erasure.id,
    tasks: tagging.id,
    note: note.id,
    deletion: deletion.id,
    tagging: tagging.id,
    change: tagging.id,
    held: spam.data[0]!.id,
  };
}

/** Submits a submission that ends up in spam. */
export async function holdOne(service: Pick<TestService, 'url'>, formId: string): Promise<void> {
  const answers: [string, string][] = [
    ['a', 'spam'],
    ['_website', 'https://spam.test'],
  ];
  await openVisitor(service).post(formId, answers, asJson);
}

/** Returns the id for `:id` (or `{id}`) in a path. */
export const idIn = (path: string, made: Readonly<Record<string, string>>): string =>
  made[path.slice(1).split(/\/(?::|\{)id/, 1)[0]!]!;

/** Fills the parameters of a documented path with ids. Parameters without an id stay. */
export const fillPath = (path: string, made: Readonly<Record<string, string>>): string =>
  path.replaceAll(
    /\{(\w+)\}/g,
    (all, name: string) => (name === 'id' ? idIn(path, made) : made[name]) ?? all,
  );

/** The arguments of an operation, each part by parameter name. The `body` of an upload is its bytes. */
export type Given = Readonly<Record<'params' | 'query', Readonly<Record<string, unknown>>>> & {
  readonly body: object;
};

/**
 * Orders deletions last, because other operations need what they delete. The deletion of a form is the very
 * last.
 */
const lateness = ({ method, path }: ApiRoute): number =>
  method === 'DELETE' ? (path === '/forms/:id' ? 99 : 10 - path.split('/').length) : 0;

/** Sorts operations so that each can be called with the existing resources. */
export const inOrder = (routes: readonly ApiRoute[]): ApiRoute[] =>
  routes.toSorted((a, b) => lateness(a) - lateness(b));

/**
 * Returns arguments for a successful call of each operation: its example and existing ids, or new resources
 * if those do not work.
 */
export function callsOf(service: TestService, tenant: Tenant, made: OneOfEach) {
  const call = async (method: string, path: string, body?: unknown) =>
    (await tenant.call(method, path, body, { Authorization: `Bearer ${made.key}` })).body;
  const makeOne = async (
    isPublished: boolean,
    type: 'text' | 'file_upload' = 'text',
  ): Promise<{ id: string }> => {
    const { id } = await call('POST', '/forms', {
      structure: structure(element(type, 'a')),
      publish: isPublished,
    });
    return { id };
  };
  const trashOne = async () => {
    const { id } = await makeOne(true);
    const submission = await call('POST', `/forms/${id}/submissions`, { answers: { a: 'word' } });
    await call('DELETE', `/submissions/${submission.id}`);
    return { id, submission: submission.id };
  };
  const invite = async () => {
    const invitations = [{ email: `${newId()}@example.org` }];
    const { data } = await call('POST', `/forms/${made['forms']}/invitations`, { invitations });
    return { params: { id: made['forms'], invitation: data[0]!.id } };
  };
  const special: Readonly<Record<string, () => Promise<Partial<Given>>>> = {
    unpublishForm: async () => ({ params: await makeOne(true) }),
    async restoreForm() {
      const params = await makeOne(false);
      await call('POST', `/forms/${params.id}/archive`);
      return { params };
    },
    async createFile() {
      const { id } = await makeOne(false, 'file_upload');
      return { query: { form_id: id, element: 'a', filename: 'x.txt' }, body: Buffer.from('ab') };
    },
    createSubmission: async () => ({ params: await makeOne(true), body: { answers: { a: 'word' } } }),
    restoreSubmission: async () => ({ params: { id: (await trashOne()).submission } }),
    async restoreSubmissions() {
      const { id, submission } = await trashOne();
      return { params: { id }, body: { ids: [submission] } };
    },
    createInvitations: async () => ({ body: { invitations: [{ email: `${newId()}@example.org` }] } }),
    getInvitation: invite,
    resendInvitation: invite,
    revokeInvitation: invite,
    async startReplay() {
      await call('PATCH', `/webhooks/${made['webhooks']}`, { active: true });
      return { body: {} };
    },
    async cancelReplay() {
      const { database } = service.services;
      await database.query('update tasks set finished_at = null, cancelled_at = null where id = $1', [
        made['replays'],
      ]);
      return {};
    },
  };

  return async ({ name, path, operation }: ApiRoute): Promise<Given> => {
    const { query = {}, body = {} } = operation.example as Partial<Given>;
    const params = Object.fromEntries(
      [...path.matchAll(/:(\w+)/g)].map(([, place]) => [
        place!,
        place === 'id' ? idIn(path, made) : place === 'version' ? 1 : made[place!],
      ]),
    );
    return { params, query, body, ...(await special[name]?.()) };
  };
}
