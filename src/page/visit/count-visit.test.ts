import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Analytics } from '#submissions/analytics.ts';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { browserAgent, openPaper, publishForm } from '#test/paper.ts';
import { shareService, until } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';

/* How visits are counted: what is known with and without a script, and which visits are excluded. */
const service = await shareService();
const tenant = await service.makeTenant({ rateLimit: 100_000 });
const visitor = openVisitor(service);

const trip = stepsOf(
  { title: 'You' },
  [element('text', 'name'), element('email', 'mail')],
  { title: 'Trip' },
  [element('radio', 'colour'), composite('team', [element('text', 'member')], { repeatable: true })],
  {},
  [element('textarea', 'notes')],
);

const analytics = async (form: string, query = ''): Promise<Analytics> => {
  const { status, body } = await tenant.call('GET', `/forms/${form}/analytics${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Analytics;
};
/** Returns the counts when `count` of them are written; earlier events are then also written. */
const counted = (form: string, what: 'views' | 'starts' | 'completions', count: number): Promise<Analytics> =>
  until(`${count} ${what}`, async () => {
    const found = await analytics(form);
    return found[what] === count ? found : undefined;
  });

const person = { 'User-Agent': browserAgent };
const view = (form: string, headers: Record<string, string> = person, method = 'GET') =>
  visitor.fetch(`/f/${form}`, { method, headers });
/** Sends what the script of a page reports when the visitor leaves. */
const reportVisit = (form: string, report: string, headers: Record<string, string> = {}) =>
  visitor.fetch(`/f/${form}/visit`, {
    method: 'POST',
    headers: { ...person, ...headers },
    body: new URLSearchParams({ _visit: report }),
  });
const stepsIn = ({ steps }: Analytics) =>
  steps.map(({ reached, left, drop_off }) => [reached, left, drop_off]);
const leftIn = ({ questions }: Analytics) =>
  Object.fromEntries(questions.flatMap(({ id, left }) => (left > 0 ? [[id, left]] : [])));

test('a form without visits lists every step and question, with zeros', async () => {
  const form = await publishForm(tenant, trip);
  assert.deepEqual(await analytics(form, '?from=2026-01-01&to=2026-12-31'), {
    is_counting: true,
    time_zone: 'UTC',
    views: 0,
    starts: 0,
    completions: 0,
    start_rate: null,
    completion_rate: null,
    median_seconds: null,
    script_share: null,
    days: [],
    steps: ['You', 'Trip', null].map((title, index) => ({
      number: index + 1,
      title,
      is_review: false,
      reached: 0,
      left: 0,
      drop_off: null,
    })),
    questions: [
      ['name', 'text', 1],
      ['mail', 'email', 1],
      ['colour', 'radio', 2],
      ['team', 'composite', 2],
      ['notes', 'textarea', 3],
    ].map(([id, type, step]) => ({ id, label: `The ${id}`, type, step, left: 0 })),
  });
});

test('without a script, a visit begins with its first post, which gives its steps and last answer', async () => {
  const form = await publishForm(tenant, trip);
  const open = () => openPaper(service, `/f/${form}`);
  await open();
  const second = await (await open()).press('next', { name: 'Ada', mail: 'ada@example.org' });
  assert.deepEqual(second.headings, ['Trip']);
  const third = await (await (await open()).press('next', { name: 'Ben' })).press('next', { colour: 'Red' });
  // Moving back and forth is not counted again.
  const again = await (await (await third.press('back')).press('back')).press('next');
  const sent = await (await again.press('next')).press('submit', { notes: 'Bye' });
  assert.match(sent.location ?? '', /\/submitted/);

  const found = await counted(form, 'completions', 1);
  assert.deepEqual([found.views, found.starts, found.script_share], [3, 2, 0]);
  assert.deepEqual([found.start_rate, found.completion_rate], [2 / 3, 1 / 2]);
  assert.ok(found.median_seconds! >= 1);
  assert.deepEqual(stepsIn(found), [
    [3, 1, 1 / 3],
    [2, 1, 1 / 2],
    [1, 0, 0],
  ]);
  assert.deepEqual(leftIn(found), { mail: 1 });
  const [{ day } = { day: '' }] = found.days;
  assert.deepEqual(found.days, [{ day, views: 3, starts: 2, completions: 1 }]);
  assert.equal((await analytics(form, `?from=${day}&to=${day}`)).views, 3);
  const tomorrow = new Date(Date.parse(day) + 86_400_000).toISOString();
  for (const range of [`created_from=${day}`, `created_from=${day}T00:00:00Z&created_to=${tomorrow}`])
    assert.equal((await analytics(form, `?${range}`)).views, 3, range);
  assert.equal((await analytics(form, `?created_to=${day}`)).views, 0, 'the end of a range does not count');
  const before = await analytics(form, '?to=2020-01-01');
  assert.deepEqual([before.views, stepsIn(before)[0]], [0, [0, 0, null]]);
});

test('each report of the script continues the previous one, up to the submission', async () => {
  const form = await publishForm(tenant, trip);
  for (let views = 0; views < 3; views += 1) await view(form);
  assert.equal((await reportVisit(form, '|0:name')).status, 204);
  await reportVisit(form, '0:name|0.1:colour');
  await reportVisit(form, '|0:mail');
  const { text } = await view(form);
  const key = /name="_key" value="([^"]+)"/.exec(text)![1]!;
  const parts = [
    ['_key', key],
    ['_step', '2'],
    ['_visit', '|0.1.2:notes'],
    ['notes', 'Bye'],
  ] as const;
  const post = { headers: { ...asJson.headers, ...person } };
  assert.equal((await visitor.post(form, parts, post)).status, 201);
  // A repeated post is not another visit, and automatic saving is not counted.
  assert.equal((await visitor.post(form, parts, post)).status, 201);

  const found = await counted(form, 'completions', 1);
  assert.deepEqual([found.views, found.starts, found.script_share], [4, 3, 1]);
  assert.deepEqual(stepsIn(found), [
    [4, 2, 1 / 2],
    [2, 1, 1 / 2],
    [1, 0, 0],
  ]);
  assert.deepEqual(leftIn(found), { colour: 1, mail: 1 });
});

test('impossible reports of a page are not counted, nor reports sent from another site', async () => {
  const form = await publishForm(tenant, trip);
  await reportVisit(form, '|99.x.-1.0.0:toString');
  await reportVisit(form, '|0:name', { Origin: 'https://other.example', 'Sec-Fetch-Site': 'cross-site' });
  await reportVisit(form, '|0:name', { 'Sec-GPC': '1' });
  await reportVisit(form, '|0:member');
  assert.equal((await reportVisit(form, 'x'.repeat(20_000))).status, 413);
  const other = { method: 'POST', body: new URLSearchParams({ name: 'Ada' }) };
  assert.equal((await visitor.fetch(`/f/${form}/visit`, other)).status, 400);
  assert.equal((await visitor.fetch(`/f/${form}/visit`)).status, 405);
  const found = await counted(form, 'starts', 2);
  assert.deepEqual([leftIn(found), found.completion_rate], [{}, 0]);
});

test('bots, previews, prefetched pages and visitors with Do Not Track are not counted, nor forms with analytics turned off', async () => {
  const form = await makeForm(tenant, [element('text', 'name')]);
  const silent = await makeForm(tenant, [element('text', 'name')], { settings: { analytics: false } });
  const left: readonly Record<string, string>[] = [
    {},
    { 'User-Agent': 'curl/8.0' },
    { 'User-Agent': `${browserAgent} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)` },
    { 'User-Agent': `${browserAgent} facebookexternalhit/1.1 Facebot Twitterbot/1.0` },
    { 'User-Agent': `${browserAgent} HeadlessChrome/140.0` },
    { ...person, 'Sec-Purpose': 'prefetch;prerender' },
    { ...person, 'Sec-GPC': '1' },
    { ...person, DNT: '1' },
  ];
  for (const headers of left) {
    const { status, text } = await view(form.id, headers);
    assert.deepEqual([status, text.includes('_visit')], [200, false], JSON.stringify(headers));
  }
  await view(form.id, person, 'HEAD');
  assert.ok(!(await view(silent.id)).text.includes('_visit'));
  assert.ok(
    (await view(form.id, { 'User-Agent': browserAgent.replace('X11', 'CUBOT X18') })).text.includes('_visit'),
  );
  await visitor.submit(form.id, { name: 'A program' });
  await view(form.id);
  const found = await counted(form.id, 'views', 2);
  assert.deepEqual([found.starts, found.completions], [0, 0]);
  assert.deepEqual(
    [(await analytics(silent.id)).is_counting, (await analytics(silent.id)).views],
    [false, 0],
  );
});

test('resumed answers continue their visit, and spam completes no visit', async () => {
  const form = await publishForm(tenant, trip, { save_progress: true });
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const saved = await second.press('save', { colour: 'Red' });
  const link = /\/f\/[\w-]+\/resume\/[\w-]+/.exec(JSON.stringify(saved.tags))![0];
  const resumed = await openPaper(service, link);
  const sent = await (await resumed.press('next')).press('submit');
  assert.match(sent.location ?? '', /\/submitted/);
  const spam = await openPaper(service, `/f/${form}`);
  const last = await (await spam.press('next')).press('next');
  assert.match((await last.press('submit', { _website: 'x' })).location ?? '', /\/submitted/);

  // A view is written after its page was sent: the last step of the spam may be written after the completion
  // of the other visit.
  const found = await until('both at the last step, one of them to its end', async () => {
    const found = await analytics(form);
    return found.completions === 1 && found.steps.at(-1)?.reached === 2 ? found : undefined;
  });
  assert.deepEqual([found.views, found.starts], [2, 2]);
  assert.deepEqual(stepsIn(found), [
    [2, 0, 0],
    [2, 0, 0],
    [2, 1, 1 / 2],
  ]);
  assert.deepEqual(leftIn(found), {});
});

test('a form with one question at a time and a review step counts each question as a step, and the review as the last', async () => {
  const form = await publishForm(tenant, trip, { layout: 'question', review_step: true });
  const mail = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const colour = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ben' });
  const team = await (await colour.press('next')).press('next');
  const list = await (await team.press('next')).press('next');
  assert.equal(mail.status, 200);
  assert.match((await list.press('submit')).location ?? '', /\/submitted/);
  const found = await counted(form, 'completions', 1);
  assert.deepEqual(stepsIn(found), [
    [2, 1, 1 / 2],
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
  ]);
  assert.deepEqual(
    found.steps.map(({ number, is_review }) => [number, is_review]),
    [
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ],
  );
});

test('analytics return 404 for a missing form, and 400 for an invalid day', async () => {
  const form = await publishForm(tenant, trip);
  for (const query of ['?from=2026-02-30', '?to=today', '?from=2026-1-1'])
    assert.equal((await tenant.call('GET', `/forms/${form}/analytics${query}`)).status, 400, query);
  const other = await service.makeTenant();
  assert.equal((await other.call('GET', `/forms/${form}/analytics`)).status, 404);
});
