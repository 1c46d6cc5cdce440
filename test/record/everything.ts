import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { locales } from '#ast/basics/language-tags.ts';
import type { ConsolePerson } from '#test/console.ts';
import { galleryForms } from '#test/gallery/forms.ts';
import { makePhoto } from '#test/gallery/pictures.ts';
import { type Body, until } from '#test/service.ts';
import { asJson, type Part } from '#test/visitor.ts';
import { computeTotpCode, totpStepAt } from '#workspaces/sign-in/two-factor-codes.ts';
import { element, structure } from '../ast/forms.ts';
import type { Outside, OutsideTenant } from './outside.ts';

/**
 * A workspace with one submission of every element type and in every status, and what the record reads from
 * it.
 */
export type Everything = {
  tenant: OutsideTenant;
  owner: ConsolePerson;
  forms: Readonly<Record<string, string>>;
  /** The secret of the webhooks, and the number of requests they send. */
  secret: string;
  events: number;
};

const keep = (text: string): string => text;
const picture = await makePhoto([24, 16]);
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const file = (name: string): File => new File([picture], name, { type: 'image/jpeg' });

/** Answers to the gallery forms as a browser posts them. Together they have every element type. */
const posts: Readonly<Record<string, readonly Part[]>> = {
  workshop: Object.entries({
    name: 'Anni Albers',
    email: 'anni@example.org',
    phone: '+49 30 555 0199',
    site: 'https://example.org/loom?a=1&b=2',
    day: '2126-06-14',
    years: '12.5',
    country: 'Egypt',
    work: '=1+1, "quoted"; and a line\nmore',
    size: 'Small',
    'guests[0][guest]': 'Otti Berger',
    'guests[0][veg]': 'yes',
    'guests[1][guest]': 'Gunta Stölzl',
    wishes: 'A place at the window 😀',
  }),
  choices: [
    ['found', '_other'],
    ['_other[found]', 'From my grandmother'],
    ['score', '9'],
    ['days', 'Monday'],
    ['days', 'Thursday'],
    ['colours', 'Madder'],
    ['dinner', 'yes'],
    ['motif', 'w'],
    ['pleased[The looms]', 'Very much'],
    ['terms', 'yes'],
    ['source', 'newsletter'],
    ['seat', 'Seat 7'],
  ],
  files: [
    ['pictures', file('my loom.jpg')],
    ['pictures', file('the "other" loom.jpg')],
    ['ticket', new File(['%PDF-1.4\n%%EOF\n'], 'ticket.pdf', { type: 'application/pdf' })],
    ['signature', new File([pixel], 'signature.png', { type: 'image/png' })],
  ],
  order: [
    ['stars', '5'],
    ['hearts', '3'],
    ['numbers', '8'],
    ['again', '9'],
    ['best', 'Weld'],
    ['best', 'Madder'],
    ['best', 'Indigo'],
    ['best', 'Walnut'],
    ['when[The looms]', 'Monday'],
    ['when[The looms]', 'Tuesday'],
    ['motifs', 'w'],
    ['motifs', 'l'],
    ['weight', '4.5'],
    ['way', 'fetch'],
    ['hour', '09:30'],
    ['latest', '2126-06-14T18:00'],
    ['madder', '2'],
    ['number', '17'],
    ['note', 'Mine is small.'],
  ],
};

const events = ['submission.created', 'submission.updated', 'submission.deleted'];
const secret = 'a secret of the record';

/** Calls the API and fails if a call is refused. */
const callOf =
  (tenant: OutsideTenant) =>
  async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await tenant.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

/** Creates the workspace: forms, submissions and all changes, always in one order. */
export async function makeEverything(outside: Outside): Promise<Everything> {
  const { visitor, receiver } = outside;
  const tenant = await outside.makeTenant('Weaving Mill');
  const owner = await outside.signIn({ name: 'Anni Albers', workspaceId: tenant.workspaceId });
  const call = callOf(tenant);
  const photo = (await call('POST', '/images', picture)).id;
  const forms: Record<string, string> = {};
  let count = 0;
  const settle = async (more: number): Promise<void> => void (await receiver.waitFor((count += more)));
  for (const [name, parts] of Object.entries(posts)) {
    const { structure, settings } = galleryForms[name as 'order'](keep, photo);
    const { id } = await call('POST', '/forms', { structure, settings, publish: true });
    forms[name] = id;
    await call('POST', `/forms/${id}/webhooks`, { url: receiver.url, events, secret });
    const query = '?utm_source=newsletter&ref=7';
    const sent = await visitor.post(id, parts, { query, ...asJson });
    assert.equal(sent.status, 201, `${name}: ${sent.text}`);
    await settle(1);
  }
  // A submission that changes in every way and is then deleted.
  const { data } = await call('GET', `/forms/${forms['workshop']}/submissions`);
  const changed = `/submissions/${data[0]!.id}`;
  for (const change of [
    { answers: { name: 'Anni Fleischmann' } },
    { reference: { utm_source: 'letter' } },
    { tags: ['First time', 'Called back'] },
    { status: 'incomplete' },
    { status: 'completed' },
  ]) {
    await call('PATCH', changed, change);
  }
  await call('POST', `${changed}/notes`, { text: 'Sent the list of yarns.' });
  const choices = forms['choices']!;
  const [chosen] = (await call('GET', `/forms/${choices}/submissions`)).data;
  await call('PATCH', `/submissions/${chosen!.id}`, { tags: ['First time'] });
  await visitor.post(choices, [...posts['choices']!, ['_website', 'https://spam.test']], asJson);
  const gone = await visitor.post(choices, posts['choices']!, asJson);
  await settle(1);
  await call('DELETE', `/submissions/${gone.body.id}`);
  await call('POST', `/forms/${choices}/trash/deletions`, { ids: [gone.body.id] });
  // Four updates and the deletion.
  await settle(5);
  return { tenant, owner, forms, secret, events: count };
}

/** Sends every type of email that pages.ts does not, and waits for each. */
export async function sendMails(
  outside: Outside,
  { tenant, owner }: Everything,
  folder: string,
): Promise<void> {
  const { inbox, visitor } = outside;
  const call = callOf(tenant);
  const form = galleryForms.workshop(keep, '');
  for (const locale of locales) {
    const letters = { notification_email: `${locale}.studio@example.org`, receipt_email_element: 'email' };
    const { id } = await call('POST', '/forms', {
      structure: form.structure,
      settings: { ...form.settings, ...letters, locale },
      publish: true,
    });
    const invited = { email: `${locale}.invited@example.org`, name: 'Otti Berger' };
    await call('POST', `/forms/${id}/invitations`, {
      invitations: [invited],
      message: 'Dear {{name}},\n\ncome!',
    });
    await inbox.waitForOne(invited.email);
    const answers = posts['workshop']!.filter(([name]) => name !== 'email');
    await visitor.post(id, [...answers, ['email', `${locale}.anni@example.org`]]);
    await inbox.waitForOne(`${locale}.anni@example.org`);
    await inbox.waitForOne(letters.notification_email);
    const digest = {
      notification_email: `${locale}.evening@example.org`,
      notification_digest: 'daily',
      locale,
    };
    const gathered = await call('POST', '/forms', {
      structure: structure(element('text', 'name')),
      settings: digest,
      publish: true,
    });
    for (const name of ['Anni Albers', 'Otti Berger']) await visitor.submit(gathered.id, { name });
    await sendDigest(outside, gathered.id);
    await inbox.waitForOne(digest.notification_email);
  }
  await sendPersonalMails(outside, owner);
  await outside.run('mail', 'send-test', '--to', 'test@example.org');
  await inbox.waitForOne('test@example.org');
  const text = join(folder, 'announcement');
  await writeFile(text, 'The service is away on Sunday.\n');
  await outside.run('announce', '--subject', 'Away on Sunday', '--text-file', text);
  await inbox.waitForOne(owner.email, inbox.taken.filter(({ to }) => to.includes(owner.email)).length);
}

/** Sends the digest that is due in the evening now. */
async function sendDigest({ query }: Outside, form: string): Promise<void> {
  await until(
    'both submissions to be in the digest',
    async () => (await query('select from digest_items where form_id = $1', [form])).length === 2,
  );
  await query(
    `update jobs set run_at = now() where payload ->> 'kind' = 'digest_due' and payload ->> 'formId' = $1`,
    [form],
  );
  await query(`select pg_notify('formloom_jobs', 'record')`);
}

/** Sends every email to a member about their account, keys and workspace. */
async function sendPersonalMails(
  { inbox, makeTenant, signIn, signInAgain }: Outside,
  owner: ConsolePerson,
): Promise<void> {
  const { email, workspaceId } = await signIn({
    name: 'Gunta Stölzl',
    workspaceId: (await makeTenant()).workspaceId,
  });
  let person = await signInAgain({ email, workspaceId } as ConsolePerson);
  const { password } = owner;
  let seen = inbox.taken.filter(({ to }) => to.includes(email)).length;
  const does = async (what: Promise<{ status: number; body: unknown }>): Promise<Body> => {
    const { status, body } = await what;
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
    await inbox.waitForOne(email, seen);
    seen += 1;
    return body as Body;
  };
  const key = await does(person.api('POST', '/keys', { name: 'Website' }));
  await does(person.api('POST', `/keys/${key.id}/rotate`));
  const { body } = await person.call<{ secret: string }>('POST', '/person/totp', { password });
  const confirmed = person.call('PUT', '/person/totp', {
    code: computeTotpCode(body.secret, totpStepAt(new Date())),
  });
  await does(confirmed);
  const [cookie] = (await confirmed).headers.getSetCookie();
  person = withCookie(person, cookie!.split(';', 1)[0]!);
  await does(person.call('POST', '/person/recovery-codes', { password }));
  await does(person.call('DELETE', '/person/totp', { password }));
  // The change ended the session.
  person = await signInAgain(person);
  await does(person.call('POST', '/password-resets', { email }));
  const change = { current_password: password, new_password: 'another long test password' };
  await does(person.call('PUT', '/person/password', change));
  await owner.api('POST', '/members', { email: 'invited@example.org', role: 'editor' });
  await inbox.waitForOne('invited@example.org');
  const other = await signIn({ name: 'Marianne Brandt' });
  const ended = await other.call('DELETE', `/workspaces/${other.workspaceId}`, { password });
  assert.equal(ended.status, 200);
  await inbox.waitForOne(other.email);
  await other.call('POST', `/workspaces/${other.workspaceId}/returns`);
  await inbox.waitForOne(other.email, 1);
}

function withCookie(person: ConsolePerson, cookie: string): ConsolePerson {
  const extra = { Cookie: cookie };
  return {
    ...person,
    call: (method, path, body, more) => person.call(method, path, body, { ...extra, ...more }),
    api: (method, path, body, more) => person.api(method, path, body, { ...extra, ...more }),
  };
}
