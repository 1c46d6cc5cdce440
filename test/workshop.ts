import assert from 'node:assert/strict';
import sharp from 'sharp';
import type { VisitKind } from '#submissions/visit-counter.ts';
import { composite, element, stepsOf } from './ast/forms.ts';
import type { ConsolePerson } from './console.ts';
import type { Receiver } from './receiver.ts';
import type { Outside, OutsideTenant } from './record/outside.ts';
import { until } from './service.ts';
import type { Part, Visitor } from './visitor.ts';

/*
 * A workspace as it looks in use, for screenshots: a form with submissions, deliveries, spam, trash and keys.
 */

const step = (attrs: object, children: unknown[]) => ({ type: 'step', attrs, children });
const levels = ['Beginner', 'Intermediate', 'Advanced'];
const isNoBeginner = { element: 'level', is: 'not_equals', value: 'Beginner' };
const workshop = {
  type: 'form',
  attrs: { name: 'Weaving workshop', description: 'Three days at the loom, in June.' },
  children: [
    step({ title: 'About you', layout: 'grid_2' }, [
      element('heading', 'intro', { label: 'Who are you?' }),
      element('paragraph', 'note', { label: 'We use this to plan the groups, and for nothing else.' }),
      element('text', 'name', { label: 'Full name', required: true }),
      element('email', 'email', { label: 'Email address', required: true }),
      element('phone', 'phone', { label: 'Phone', help_text: 'Only for the day of your arrival.' }),
      element('dropdown', 'level', { label: 'Experience', options: levels }),
      element('multiple_choice', 'colours', { label: 'Yarn colours' }),
      element('number', 'years', { label: 'Years of weaving', show_when: isNoBeginner }),
    ]),
    step({ title: 'Your visit', description: 'Everything that we prepare for you.' }, [
      element('date', 'arrival', { label: 'Arrival' }),
      element('yes_no', 'lunch', { label: 'Lunch included?' }),
      composite('guests', [element('text', 'guest')], { label: 'Guest', repeatable: true }),
      element('textarea', 'wishes', { label: 'Wishes' }),
      element('file_upload', 'photo', { label: 'A photo of your loom' }),
    ]),
  ],
};

const names = ['Ada Lovelace', 'Grace Hopper', 'Anni Albers', 'Gunta Stölzl', 'Joseph-Marie Jacquard'];
const wishes = [
  'A place at the window, please: I weave better in daylight.',
  'Vegetarian lunch',
  'May I bring my own loom? It is a small one for weaving tapestries.',
];
/** Returns the answers of one visitor as a browser posts them. Some questions stay unanswered. */
const answersOf = (index: number): Part[] => {
  const parts: Record<string, string> = {
    name: names[index % names.length]!,
    email: `visitor-${index}@example.org`,
    level: levels[(index * index) % 3]!,
    colours: ['Red', 'Green', 'Blue'][index % 3]!,
    years: String((index * 7) % 23),
    arrival: `2026-06-${String(1 + (index % 28)).padStart(2, '0')}`,
    lunch: index % 4 === 0 ? 'no' : 'yes',
    'guests[0][guest]': index % 2 === 0 ? 'Tom' : '',
    wishes: index % 5 === 0 ? wishes[(index / 5) % wishes.length]! : '',
  };
  return Object.entries(parts).filter(([, value]) => value !== '');
};

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = new File([Buffer.from(onePixel, 'base64')], 'my-loom.png', { type: 'image/png' });

/** The ids in the URLs of the workshop's screens. */
export type Workshop = { form: string; webhook: string; failed: string; thanks: string };

type Setting = {
  outside: Outside;
  tenant: OutsideTenant;
  owner: ConsolePerson;
  visitor: Visitor;
  receiver: Receiver;
};

/**
 * Creates the workshop with its submissions: one with a file and a history, some in the trash, some in spam.
 */
export async function seedWorkshop({
  outside,
  tenant,
  owner,
  visitor,
  receiver,
}: Setting): Promise<Workshop> {
  const settings = { confirmation_message: 'We will write to you within a week.' };
  const { body } = await tenant.call('POST', '/forms', { structure: workshop, settings, publish: true });
  const form = body.id;
  await seedDays(outside, owner, { workspaceId: tenant.workspaceId, form });
  for (let index = 0; index < 38; index += 1)
    assert.equal((await visitor.post(form, answersOf(index))).status, 303);
  for (let index = 0; index < 5; index += 1)
    await visitor.post(form, [
      ...answersOf(index),
      ['wishes', 'Cheap yarn: https://spam.test'],
      ['_website', 'x'],
    ]);
  const { webhook, failed, last } = await seedDeliveries({ form, owner, visitor, receiver });
  const listed = await tenant.call('GET', `/forms/${form}/submissions?per_page=4`);
  const [newest, , ...old] = listed.body.data;
  for (const { id } of old) await owner.api('DELETE', `/submissions/${id}`);
  await owner.api('PATCH', `/submissions/${newest!.id}`, {
    answers: { name: 'Ada King' },
    tags: ['First time', 'Needle size asked'],
  });
  await owner.api('POST', `/submissions/${newest!.id}/notes`, { text: 'Sent the list of yarns by mail.' });
  await seedKeys(outside, owner);
  await owner.api('POST', '/members', { email: 'benita@example.org', role: 'editor' });
  const people = names.map((name, index) => `${name} <person-${index}@example.org>`).join('\n');
  await owner.api('POST', `/forms/${form}/invitations/imports`, {
    kind: 'addresses',
    text: people,
    send: false,
  });
  const thanks = new URL(last, outside.url);
  return { form, webhook, failed, thanks: thanks.pathname + thanks.search };
}

/** Adds submissions of earlier days, page views, two incomplete submissions and a saved view. */
async function seedDays(
  outside: Outside,
  owner: ConsolePerson,
  { workspaceId, form }: { workspaceId: string; form: string },
): Promise<void> {
  const days = Array.from({ length: 24 }, (_, ago) => new Date(Date.now() - (24 - ago) * 86_400_000));
  const lines = days.flatMap((day, index) =>
    Array.from({ length: (index * 5) % 7 }, (_, place) => {
      const answers = Object.fromEntries(answersOf(index * 7 + place) as [string, string][]);
      const moment = new Date(day.getTime() + place * 1_900_000).toISOString();
      return [...columns.map((column) => answers[column] ?? ''), moment].map((cell) => `"${cell}"`).join(',');
    }),
  );
  const text = [[...columns, 'Completed at'].join(','), ...lines].join('\n');
  await owner.api('POST', `/forms/${form}/submissions/imports`, { kind: 'csv', text });
  await until('what came before to be there', async () => {
    type Imports = { data: { finished_at: string | null }[] };
    return (
      (await owner.api<Imports>('GET', `/forms/${form}/submissions/imports`)).body.data[0]?.finished_at ??
      undefined
    );
  });
  const counted: readonly (readonly [kind: VisitKind, name: string, share: number])[] = [
    ['view', '', 30],
    ['start', '', 22],
    ['completion', '', 14],
    ['scripted_start', '', 22],
    ['step', 'name', 22],
    ['onward', 'name', 16],
    ['step', 'arrival', 16],
    ['onward', 'arrival', 14],
    ['question', 'phone', 4],
    ['question', 'years', 2],
    ['question', 'wishes', 2],
    ['time', '54', 14],
  ];
  const sums = days.flatMap((day, index) =>
    counted.map(([kind, name, share]) => ({ day, kind, name, count: share + ((index * 5) % 7) })),
  );
  for (const { day, kind, name, count } of sums)
    await outside.query(
      `insert into visit_counts (workspace_id, form_id, day, kind, name, count) values ($1, $2, $3, $4, $5, $6)`,
      [workspaceId, form, day.toISOString().slice(0, 10), kind, name, count],
    );
  type Listed = { data: { id: string }[] };
  const { data } = (await owner.api<Listed>('GET', `/forms/${form}/submissions?per_page=5`)).body;
  for (const { id } of [data[1]!, data[4]!])
    await owner.api('PATCH', `/submissions/${id}`, { status: 'incomplete' });
  const where = { element: 'level', is: 'one_of', value: ['Beginner'] };
  await owner.api('POST', `/forms/${form}/views`, {
    name: 'Beginners',
    query: { where: JSON.stringify(where) },
  });
}

/** The columns of an import file. */
const columns = ['name', 'email', 'level', 'colours', 'years', 'arrival', 'lunch', 'wishes'];

/**
 * Creates a form with what the workshop form lacks: pictures, a matrix, a calculation, consent, a signature,
 * two languages.
 */
export async function seedOrder({ tenant, visitor }: Pick<Setting, 'tenant' | 'visitor'>): Promise<string> {
  const paint = async (background: string): Promise<string> => {
    const size = { width: 480, height: 320, channels: 3 } as const;
    const { body } = await tenant.call(
      'POST',
      '/images',
      await sharp({ create: { ...size, background } })
        .png()
        .toBuffer(),
    );
    return body.id;
  };
  const [madder, indigo] = await Promise.all([paint('#a63d2f'), paint('#2b4a7f')]);
  const content = stepsOf({ title: 'Your order' }, [
    element('image', 'banner', { image: indigo, alt: 'A blue cloth', caption: 'Dyed in June.' }),
    element('rich_text', 'terms', {
      text: '## Before you order\nEvery cloth is **woven by hand**.\n\n- Six weeks',
    }),
    element('picture_choice', 'cloth', {
      label: 'Which cloth?',
      translations: { de: { label: 'Welches Tuch?', options: { red: 'Krapp' } } },
      options: [
        { id: 'red', label: 'Madder', image: madder, points: 30, capacity: 20 },
        { id: 'blue', label: 'Indigo', image: indigo, points: 45 },
        'As it comes',
      ],
    }),
    element('number', 'metres', { label: 'Metres', min: 1, max: 20 }),
    element('calculation', 'price', { label: 'Price', formula: 'points({cloth}) * {metres}' }),
    element('matrix', 'pleased', {
      label: 'How did you like these?',
      rows: ['The looms', 'The colours', 'The meals'],
      options: ['Not at all', 'A little', 'Very much'],
    }),
    element('consent', 'privacy', {
      label: 'Privacy',
      statement: 'I agree that my answers are kept for a year.',
      required: true,
    }),
    element('signature', 'signature', { label: 'Your signature' }),
    element('hidden', 'source', { label: 'Source' }),
  ]);
  const form = {
    ...content,
    attrs: { ...content.attrs, name: 'Cloth by the metre', languages: ['en', 'de'] },
  };
  const isMuch = { element: 'price', is: 'at_least', value: 200 };
  const settings = {
    confirmation_message: 'Thank you.',
    confirmations: [{ when: isMuch, title: 'A large order', message: 'We call you: it is {{price}}.' }],
    notifications: [
      {
        when: isMuch,
        to: 'sales@example.org',
        subject: 'A large order of {{cloth}}',
        message:
          'Someone ordered **{{metres}} metres** of {{cloth}}.\n\n{{answers}}\n\n[Open the order]({{submission_url}})',
      },
    ],
  };
  const { status, body } = await tenant.call('POST', '/forms', { structure: form, settings, publish: true });
  assert.equal(status, 201, JSON.stringify(body));
  for (let index = 0; index < 7; index += 1) {
    const pleased = ['Not at all', 'A little', 'Very much'][index % 3]!;
    const sent = await visitor.post(body.id, [
      ['cloth', ['red', 'blue', 'As it comes'][index % 3]!],
      ['metres', String(1 + index)],
      ['pleased[The looms]', pleased],
      ['pleased[The colours]', 'Very much'],
      ['privacy', 'yes'],
      ['signature', picture],
    ]);
    assert.equal(sent.status, 303, sent.text);
  }
  return body.id;
}

/** Creates a webhook with a successful and a failed delivery. The last is of a submission with a file. */
async function seedDeliveries({
  form,
  owner,
  visitor,
  receiver,
}: Pick<Setting, 'owner' | 'visitor' | 'receiver'> & { form: string }): Promise<{
  webhook: string;
  failed: string;
  last: string;
}> {
  const sent = { url: receiver.url, events: ['submission.created'] };
  const { id: webhook } = (await owner.api<{ id: string }>('POST', `/forms/${form}/webhooks`, sent)).body;
  receiver.replyWith({ status: 404, body: 'No such hook' }, { status: 200, body: 'Thank you' });
  await visitor.post(form, answersOf(38));
  await receiver.waitFor(1);
  const last = await visitor.post(form, [...answersOf(40), ['photo', picture]]);
  const failed = await until('both deliveries to settle', async () => {
    type Log = { data: { id: string; status: string }[] };
    const { data } = (await owner.api<Log>('GET', `/webhooks/${webhook}/deliveries`)).body;
    const isSettled = data.length === 2 && data.every(({ status }) => status !== 'Retrying');
    return isSettled && data.find(({ status }) => status === 'Failed')?.id;
  });
  return { webhook, failed, last: last.headers.get('location')! };
}

/** Creates three keys: one in use, one that has few permissions and expires, one revoked. */
async function seedKeys({ url }: Outside, owner: ConsolePerson): Promise<void> {
  const make = async (key: object): Promise<{ id: string; key: string }> =>
    (await owner.api<{ id: string; key: string }>('POST', '/keys', key)).body;
  const { key } = await make({ name: 'Website' });
  for (const path of ['/forms', '/forms?status=published', '/forms/none'])
    await fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${key}` } });
  const expires = new Date(Date.now() + 90 * 86_400_000).toISOString();
  await make({ name: 'Reports', permissions: ['submissions:read'], expires_at: expires });
  const { id } = await make({ name: 'Former website' });
  await owner.api('DELETE', `/keys/${id}`);
}
