import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FormNode } from '#ast/form/tree.ts';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, type Tenant, until } from '#test/service.ts';
import { asJson, makeForm, openVisitor, type Visit } from '#test/visitor.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const visitor = openVisitor(service);

type Joined = Visit['body'] & { position?: number; cancel_url: string; edit_url?: string; next: string };

const name = element('text', 'name', { label: 'Name', required: true });
const courses = element('radio', 'course', {
  label: 'Course',
  options: [
    { id: 'w', label: 'Weaving', capacity: 1 },
    { id: 'd', label: 'Dyeing', capacity: 1 },
    { id: 'n', label: 'None' },
  ],
});

async function open(settings: object, elements: readonly FormNode[] = [name]) {
  const tenant = await service.makeTenant();
  const { id } = await makeForm(tenant, elements, { settings: { waiting_list: true, ...settings } });
  const submit = async (answers: object, key = newId()): Promise<Joined> => {
    const sent = await visitor.fetch(`/f/${id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ answers }),
    });
    assert.equal(sent.status, 201, sent.text);
    return sent.body as Joined;
  };
  const statusOf = async (submission: { id: string }) =>
    (await tenant.call('GET', `/submissions/${submission.id}`)).body as Joined;
  const promoted = (submission: { id: string }) =>
    until('the place', async () => (await statusOf(submission)).status === 'completed');
  return { tenant, id, submit, statusOf, promoted };
}

const pathOf = (address: string): string => new URL(address).pathname;
const cancel = (joined: Joined) => visitor.fetch(pathOf(joined.cancel_url), { method: 'POST', ...asJson });

const countOf = async (tenant: Tenant, id: string, status: string): Promise<number> =>
  (await tenant.call('GET', `/forms/${id}/submissions?status=${status}`)).body.pagination.total_count;

test('of 50 parallel submits for 5 places, 5 are completed and 45 get the positions 1 to 45; a repeat gets the same', async () => {
  const { tenant, id, submit, statusOf } = await open({ max_submissions: 5 });
  const keys = Array.from({ length: 50 }, newId);
  const all = await Promise.all(keys.map((key, index) => submit({ name: `Person ${index}` }, key)));
  const positions = all.flatMap(({ position = [] }) => position).toSorted((a, b) => a - b);
  assert.deepEqual(
    positions,
    Array.from({ length: 45 }, (_, index) => index + 1),
  );
  assert.equal(all.filter(({ status }) => status === 'completed').length, 5);
  assert.deepEqual([await countOf(tenant, id, 'completed'), await countOf(tenant, id, 'waiting')], [5, 45]);
  for (const [index, one] of all.entries()) {
    if (index % 10 > 0) continue;
    const again = await submit({ name: `Person ${index}` }, keys[index]);
    assert.deepEqual([again.id, again.status, again.position], [one.id, one.status, one.position]);
    assert.equal((await statusOf(one)).position, one.position);
  }
});

test('without the setting, a full form and a full option refuse answers as before', async () => {
  const full = await open({ waiting_list: false, max_submissions: 1 });
  await full.submit({ name: 'Ada' });
  assert.equal((await visitor.submit(full.id, { name: 'Ben' })).status, 410);
  const option = await open({ waiting_list: false }, [courses]);
  await option.submit({ course: 'w' });
  assert.equal((await visitor.submit(option.id, { course: 'w' })).status, 422);
});

test('the first in line gets a free place when a visitor cancels, and the others move up', async () => {
  const { tenant, id, submit, statusOf, promoted } = await open({ max_submissions: 1 });
  const [ada, ben, cy, dan] = [
    await submit({ name: 'Ada' }),
    await submit({ name: 'Ben' }),
    await submit({ name: 'Cy' }),
    await submit({ name: 'Dan' }),
  ];
  assert.deepEqual(
    [ada, ben, cy, dan].map(({ position }) => position),
    [undefined, 1, 2, 3],
  );
  // Leaving the list frees no place.
  assert.deepEqual((await cancel(cy)).body, { id: cy.id, status: 'cancelled' });
  assert.deepEqual([(await statusOf(ben)).position, (await statusOf(dan)).position], [1, 2]);
  const cancelled = await cancel(ada);
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
  assert.equal((await cancel(ada)).status, 404);
  await promoted(ben);
  assert.equal((await statusOf(dan)).position, 1);
  // A restored waiting submission returns to its position.
  assert.equal((await tenant.call('POST', `/submissions/${cy.id}/restore`)).status, 200);
  assert.deepEqual([(await statusOf(cy)).position, (await statusOf(dan)).position], [1, 2]);
  const { body: timeline } = await tenant.call('GET', `/submissions/${ben.id}/timeline`);
  assert.partialDeepStrictEqual(timeline.data, [
    {
      kind: 'edited',
      through: 'waiting_list',
      changes: [{ part: 'status', from: 'waiting', to: 'completed' }],
    },
  ]);
  assert.equal(await countOf(tenant, id, 'completed'), 1);
});

test('places become free by deletion, by an edit, and by a higher limit, and go to the first who fits', async () => {
  const { tenant, submit, statusOf, promoted } = await open({ editing: true }, [name, courses]);
  const weaver = await submit({ name: 'Ada', course: 'w' });
  const dyer = await submit({ name: 'Ben', course: 'd' });
  const weavers = [await submit({ name: 'Cy', course: 'w' }), await submit({ name: 'Dan', course: 'w' })];
  const second = await submit({ name: 'Eve', course: 'd' });
  assert.deepEqual(
    [...weavers, second].map(({ position }) => position),
    [1, 2, 1],
  );
  assert.equal((await submit({ name: 'Fay', course: 'n' })).status, 'completed');

  await tenant.call('DELETE', `/submissions/${dyer.id}?permanent=true`);
  await promoted(second);
  assert.equal((await statusOf(weavers[0]!)).position, 1);
  await tenant.call('PATCH', `/submissions/${weaver.id}`, { answers: { course: 'n' } });
  await promoted(weavers[0]!);
  // A waiting visitor changes to an option that has a place.
  const edited = await visitor.fetch(pathOf(weavers[1]!.edit_url!), {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ name: 'Dan', course: 'n' }),
  });
  assert.equal(edited.status, 200, edited.text);
  await promoted(weavers[1]!);

  const limited = await open({ max_submissions: 1 });
  await limited.submit({ name: 'Ada' });
  const next = [await limited.submit({ name: 'Ben' }), await limited.submit({ name: 'Cy' })];
  const raised = await limited.tenant.call('PATCH', `/forms/${limited.id}`, {
    settings: { max_submissions: 2 },
  });
  assert.equal(raised.status, 200);
  await limited.promoted(next[0]!);
  assert.equal((await limited.statusOf(next[1]!)).position, 1);
  // A member gives a place beyond the limit.
  const given = await limited.tenant.call('PATCH', `/submissions/${next[1]!.id}`, { status: 'completed' });
  assert.deepEqual([given.status, given.body.status], [200, 'completed']);
  assert.equal(await countOf(limited.tenant, limited.id, 'completed'), 3);
});

test('parallel cancellations promote as many as there are free places, in order', async () => {
  const { tenant, id, submit } = await open({ max_submissions: 6 });
  const holders = await Promise.all(
    Array.from({ length: 6 }, (_, index) => submit({ name: `Holder ${index}` })),
  );
  const waiting: Joined[] = [];
  for (let index = 0; index < 8; index += 1) waiting.push(await submit({ name: `Waiting ${index}` }));
  const [, late] = await Promise.all([
    Promise.all(holders.slice(0, 4).map(cancel)),
    Promise.all(Array.from({ length: 3 }, (_, index) => submit({ name: `Late ${index}` }))),
  ]);
  assert.deepEqual(
    late.map(({ status }) => status),
    ['waiting', 'waiting', 'waiting'],
  );
  await until('six places', async () => (await countOf(tenant, id, 'completed')) === 6);
  const { body } = await tenant.call('GET', `/forms/${id}/submissions?status=completed&per_page=50`);
  const names = body.data.map(({ answers }) => answers['name']).toSorted();
  assert.deepEqual(names, ['Holder 4', 'Holder 5', ...[0, 1, 2, 3].map((index) => `Waiting ${index}`)]);
});

test('the page says that one joins the list, offers a full option, and cancels without a script', async () => {
  const { id, submit, statusOf } = await open(
    { max_submissions: 2, redirect_url: 'https://example.com/thanks' },
    [name, courses],
  );
  await submit({ name: 'Ada', course: 'w' });
  const offered = (await visitor.fetch(`/f/${id}`)).text;
  assert.ok(!offered.includes('join the waiting list'), offered);
  assert.match(offered, /value="w"(?! disabled)[^>]*>.*Weaving.*Full, waiting list/);
  await submit({ name: 'Ben', course: 'n' });
  const full = (await visitor.fetch(`/f/${id}`)).text;
  assert.match(full, /This form is full\. Submit your answers to join the waiting list\./);
  const key = /name="_key" value="([^"]+)"/.exec(full)![1]!;
  const sent = await visitor.post(id, [
    ['_key', key],
    ['name', 'Cy'],
    ['course', 'n'],
    ['_go', 'submit'],
  ]);
  assert.equal(sent.status, 303, sent.text);
  const confirmation = sent.headers.get('location')!;
  assert.ok(confirmation.startsWith(`/f/${id}/submitted`), confirmation);
  const page = (await visitor.fetch(confirmation)).text;
  assert.match(page, /You’re on the waiting list/);
  assert.match(page, /You’re number 1 on the waiting list\./);
  const address = /href="([^"]+\/cancel[^"]*)"/.exec(page)![1]!.replaceAll('&amp;', '&');
  const asked = (await visitor.fetch(address)).text;
  assert.match(asked, /Cancel your submission\?/);
  assert.match(asked, /<form method="post" action="[^"]+\/cancel/);
  const submission = { id: new URLSearchParams(confirmation.split('?')[1]).get('receipt')! };
  assert.equal((await statusOf(submission)).position, 1);
  const done = await visitor.fetch(address, { method: 'POST' });
  assert.match(done.text, /Your submission is cancelled/);
  assert.equal((await visitor.fetch(address)).status, 404);
});

test('only a link of the form cancels, and only while the form has such links', async () => {
  const { tenant, id, submit, statusOf } = await open({ max_submissions: 1 });
  const ada = await submit({ name: 'Ada' });
  const { id: foreign } = await makeForm(tenant, [name], { settings: { waiting_list: true } });
  const own = pathOf(ada.cancel_url);
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
  const wrong = [own.replace(id, foreign), own.replace(/.\/cancel/, '_/cancel'), `/f/${id}/edit/x/cancel`];
  for (const path of wrong) assert.equal((await visitor.fetch(path, json)).status, 404, path);
  assert.equal((await visitor.fetch(own, { method: 'DELETE' })).status, 405);
  assert.equal((await visitor.fetch(own.replace('/cancel', ''))).status, 404, 'it cannot be edited');
  const setting = async (waiting_list: unknown) =>
    (await tenant.call('PATCH', `/forms/${id}`, { settings: { waiting_list } })).status;
  const ben = await submit({ name: 'Ben' });
  assert.deepEqual([await setting('yes'), await setting(1), await setting(false)], [422, 422, 200]);
  assert.equal((await visitor.fetch(own, json)).status, 404);
  // Who waits already still sees the position, and can cancel.
  const confirmation = (await visitor.fetch(ben.next)).text;
  assert.match(confirmation, /You’re number 1 on the waiting list\..*href="[^"]+\/cancel/s);
  assert.equal((await cancel(ben)).status, 200);
  assert.equal(await setting(true), 200);
  assert.deepEqual((await visitor.fetch(own, json)).body, { id: ada.id, status: 'cancelled' });
  assert.equal((await statusOf(ada)).status, undefined);
});

test('the link of a waiting submission works until it has a place, and from then on for edit_days', async () => {
  const { tenant, submit, promoted } = await open({ max_submissions: 1, editing: true, edit_days: 1 });
  const ada = await submit({ name: 'Ada' });
  const ben = await submit({ name: 'Ben' });
  const daysLeft = async ({ id }: Joined) => {
    const { rows } = await tenant.database.query<{ days: number }>(
      'select round(extract(epoch from expires_at - now()) / 86400)::integer as days from submission_links where submission_id = $1',
      [id],
    );
    return rows[0]!.days;
  };
  assert.deepEqual([await daysLeft(ada), await daysLeft(ben)], [1, 3_650]);
  await cancel(ada);
  await promoted(ben);
  assert.equal(await daysLeft(ben), 1);
});

test('suspected spam to a full form or option looks like a waiting submission', async () => {
  const { id, submit } = await open({ max_submissions: 3 }, [name, courses]);
  await submit({ name: 'Ada', course: 'w' });
  await submit({ name: 'Ben', course: 'w' });
  const sendSpam = async (course: string) => {
    const key = /name="_key" value="([^"]+)"/.exec((await visitor.fetch(`/f/${id}`)).text)![1]!;
    const parts = [
      ['name', 'Bot'],
      ['course', course],
      ['_key', key],
      ['_website', 'x'],
    ] as const;
    const [first, again] = [await visitor.post(id, parts, asJson), await visitor.post(id, parts, asJson)];
    assert.deepEqual(first.body, again.body);
    const { status, position, next } = first.body as Joined;
    const page = (await visitor.fetch(next)).text;
    assert.equal(page.includes(`You’re number ${position} on the waiting list.`), position !== undefined);
    return [status, position];
  };
  assert.deepEqual(await sendSpam('n'), ['completed', undefined]);
  assert.deepEqual(await sendSpam('w'), ['waiting', 2]);
  await submit({ name: 'Cy', course: 'n' });
  await submit({ name: 'Dan', course: 'n' });
  assert.deepEqual(await sendSpam('n'), ['waiting', 2]);
});

test('a member adds a submission to the list, and returns one to it; bulk changes give places', async () => {
  const { tenant, id, submit, statusOf, promoted } = await open({ max_submissions: 1 });
  const first = await submit({ name: 'Ada' });
  const { body: added } = await tenant.call('POST', `/forms/${id}/submissions`, { answers: { name: 'Ben' } });
  assert.partialDeepStrictEqual(added, { status: 'waiting', position: 1 });
  const change = { ids: [added.id], status: 'completed' };
  assert.equal((await tenant.call('POST', `/forms/${id}/submissions/changes`, change)).status, 202);
  await promoted(added);
  // Two are completed for one place, so one that returns waits until the other is incomplete.
  const returned = await tenant.call('PATCH', `/submissions/${added.id}`, { status: 'waiting' });
  assert.partialDeepStrictEqual(returned, { status: 200, body: { status: 'waiting', position: 1 } });
  await tenant.call('DELETE', `/submissions/${added.id}`);
  const { body: restored } = await tenant.call('POST', `/submissions/${added.id}/restore`);
  assert.partialDeepStrictEqual(restored, { status: 'waiting', position: 1 });
  assert.equal((await statusOf(added)).position, 1);
  await tenant.call('PATCH', `/submissions/${first.id}`, { status: 'incomplete' });
  await promoted(added);
});

test('visitors are emailed their position and their place, and authors learn of both and of a cancellation', async () => {
  const { submit, promoted } = await open(
    {
      max_submissions: 1,
      editing: true,
      notification_email: 'author@example.test',
      receipt: { subject: 'See you', message: 'Your place is sure. {{answers}}' },
      receipt_answers: true,
    },
    [name, element('email', 'email', { label: 'Email' })],
  );
  const ada = await submit({ name: 'Ada', email: 'ada@example.test' });
  const ben = await submit({ name: 'Ben', email: 'ben@example.test' });
  const [joined] = await server.waitFor('ben@example.test', 1);
  assert.match(joined!.mail.subject!, /^You’re on the waiting list: /);
  assert.match(joined!.mail.text!, /You’re number 1 on the waiting list\./);
  for (const part of [ben.cancel_url, `${ben.edit_url}\n`, 'Name:\n  Ben'])
    assert.ok(joined!.mail.text!.includes(part), joined!.mail.text);
  assert.doesNotMatch(joined!.mail.text!, /Your place is sure/);
  await cancel(ada);
  await promoted(ben);
  const [, place] = await server.waitFor('ben@example.test', 2);
  assert.match(place!.mail.subject!, /^You have a place: /);
  assert.match(place!.mail.text!, /Your place is sure/);
  const told = await server.waitFor('author@example.test', 4);
  const subjects = told.map(({ mail }) => mail.subject!.replace(/: .*/, '')).toSorted();
  assert.deepEqual(subjects, [
    'Moved up from the waiting list',
    'New on the waiting list',
    'New submission',
    'Submission cancelled',
  ]);
});

test('waiting submissions are filtered, searched, exported and summarized, and hold their unique answers', async () => {
  const email = element('email', 'email', { label: 'Email', unique: true });
  const { tenant, id, submit } = await open({ max_submissions: 1 }, [name, email]);
  await submit({ name: 'Ada', email: 'ada@example.test' });
  const ben = await submit({ name: 'Ben', email: 'ben@example.test' });
  const refused = await visitor.submit(id, { name: 'Ben', email: 'BEN@example.test' });
  assert.equal(refused.status, 422, refused.text);
  const searched = async (q: string) =>
    (await tenant.call('GET', `/submissions/search?q=${encodeURIComponent(q)}`)).body.data.map(
      ({ id }) => id,
    );
  assert.deepEqual(await searched('status:waiting'), [ben.id]);
  assert.deepEqual(await searched('ben status:waiting'), [ben.id]);
  assert.deepEqual(await searched('ben status:incomplete'), []);
  assert.deepEqual(await searched('ben status:completed'), []);
  assert.deepEqual(await searched('-status:completed'), [ben.id]);
  assert.deepEqual(await searched('ben -status:incomplete'), [ben.id]);
  assert.deepEqual(await searched('ben -status:waiting'), []);
  const { body: summary } = await tenant.call('GET', `/forms/${id}/summary`);
  assert.partialDeepStrictEqual(summary, { completed: 1, incomplete: 0, waiting: 1, completion_rate: 1 });
  assert.partialDeepStrictEqual((summary as unknown as { days: object[] }).days, [
    { completed: 1, incomplete: 0, waiting: 1 },
  ]);
  const csv = await fetch(`${service.url}/api/v1/forms/${id}/submissions/export?format=csv&status=waiting`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  assert.match(await csv.text(), new RegExp(`${ben.id},waiting,`));
  // Promoted, it is found as a completed one.
  await tenant.call('PATCH', `/submissions/${ben.id}`, { status: 'completed' });
  assert.deepEqual(await searched('ben status:completed'), [ben.id]);
});
