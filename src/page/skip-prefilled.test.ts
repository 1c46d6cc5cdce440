import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';

/** `settings.skip_prefilled` for a visitor without scripts. */

const service = await shareService();
const tenant = await service.makeTenant();

const trip = stepsOf(
  { title: 'You' },
  [element('text', 'name', { required: true }), element('email', 'email', { required: true, unique: true })],
  { title: 'Trip' },
  [
    element('number', 'people'),
    element('multiple_choice', 'meals', { options: ['Lunch', 'Dinner'] }),
    element('text', 'allergy', { show_when: { element: 'meals', is: 'contains', value: 'Lunch' } }),
    composite('address', [element('text', 'city')]),
  ],
  { title: 'End' },
  [element('textarea', 'notes'), composite('team', [element('text', 'member')], { repeatable: true })],
);
const makeTrip = (settings: object = {}): Promise<string> =>
  publishForm(tenant, trip, { skip_prefilled: true, ...settings });

const hasControl = ({ tags }: Paper, name: string): boolean =>
  tags.some(({ attrs }) => attrs['name'] === name);

test('a step that the URL answers is not shown, and its answers are sent', async () => {
  const form = await makeTrip();
  const end = await openPaper(
    service,
    `/f/${form}?name=Ada&email=a@example.com&people=1.5&meals=Dinner&city=Oslo`,
  );
  assert.deepEqual([end.headings, hasControl(end, 'name')], [['End'], false]);
  const { answers } = await submissionOf(tenant, await end.press('submit', { notes: 'Bye' }));
  assert.deepEqual(answers, {
    name: 'Ada',
    email: 'a@example.com',
    people: 1.5,
    meals: ['Dinner'],
    city: 'Oslo',
    notes: 'Bye',
  });
});

test('a step in the middle is skipped in both directions, and other questions of a step are shown', async () => {
  const form = await makeTrip();
  const first = await openPaper(service, `/f/${form}?name=Ada&people=2&meals=Dinner&city=Oslo`);
  assert.deepEqual([first.headings, hasControl(first, 'name')], [['You'], false]);
  const end = await first.press('next', { email: 'b@example.com' });
  assert.deepEqual(end.headings, ['End']);
  assert.deepEqual((await end.press('back')).headings, ['You']);
});

test('conditions use the answers of skipped questions', async () => {
  const form = await makeTrip();
  const trip = await openPaper(
    service,
    `/f/${form}?name=Ada&email=c@example.com&people=2&meals=Lunch&city=Oslo`,
  );
  assert.deepEqual(
    [trip.headings, hasControl(trip, 'allergy'), hasControl(trip, 'meals')],
    [['Trip'], true, false],
  );
  const end = await trip.press('next', { allergy: 'Nuts' });
  const { answers } = await submissionOf(tenant, await end.press('submit'));
  assert.deepEqual([answers['meals'], answers['allergy']], [['Lunch'], 'Nuts']);
});

test('invalid values and rows are shown and reported, not skipped', async () => {
  const form = await makeTrip();
  const first = await openPaper(service, `/f/${form}?name=Ada&email=nothing&team[0].member=Bob`);
  assert.deepEqual([first.headings, hasControl(first, 'email')], [['You'], true]);
});

test('a skipped question with an error is shown again, and keeps the corrected answer', async () => {
  const form = await makeTrip();
  const query = '?name=Ada&email=taken@example.com&people=2&meals=Dinner&city=Oslo';
  await (await openPaper(service, `/f/${form}${query}`)).press('submit');
  const refused = await (await openPaper(service, `/f/${form}${query}`)).press('submit', { notes: 'Two' });
  assert.deepEqual(
    [refused.status, refused.headings, refused.values('email')],
    [422, ['You'], ['taken@example.com']],
  );
  assert.equal(hasControl(refused, 'name'), false);
  const end = await refused.press('next', { email: 'free@example.com' });
  assert.deepEqual([end.headings, end.values('notes')], [['End'], ['Two']]);
  const { answers } = await submissionOf(tenant, await end.press('submit'));
  assert.deepEqual([answers['name'], answers['email'], answers['notes']], ['Ada', 'free@example.com', 'Two']);
});

test('one question at a time begins at the first question without an answer; without the setting, answers are only filled in', async () => {
  const asking = await makeTrip({ layout: 'question' });
  const third = await openPaper(service, `/f/${asking}?name=Ada&email=d@example.com`);
  assert.deepEqual([hasControl(third, 'people'), hasControl(third, 'name')], [true, false]);
  const plain = await openPaper(service, `/f/${await makeTrip({ skip_prefilled: false })}?name=Ada`);
  assert.deepEqual(plain.values('name'), ['Ada']);
});

test('a form whose every question is prefilled can be sent', async () => {
  const form = await publishForm(tenant, stepsOf({ title: 'You' }, [element('text', 'name')]), {
    skip_prefilled: true,
  });
  const page = await openPaper(service, `/f/${form}?name=Ada`);
  assert.deepEqual((await submissionOf(tenant, await page.press('submit'))).answers, { name: 'Ada' });
});

test('answers of an invitation are skipped, and stay out of the URL', async () => {
  const form = await makeTrip();
  const invited = await tenant.call('POST', `/forms/${form}/invitations`, {
    invitations: [{ email: 'f@example.com', prefill: { name: 'Ada', email: 'f@example.com' } }],
  });
  const [{ url }] = (invited.body as unknown as { data: [{ url: string }] }).data;
  const { pathname, search } = new URL(url);
  const trip = await openPaper(service, `${pathname}${search}&people=2`);
  assert.deepEqual([trip.headings, hasControl(trip, 'people')], [['Trip'], false]);
  const { action } = trip.tags.find(({ tag }) => tag === 'form')!.attrs;
  assert.doesNotMatch(action!, /name=|email=/);
  assert.match(action!, /people=2/);
  const end = await trip.press('next');
  const { answers } = await submissionOf(tenant, await end.press('submit'));
  assert.deepEqual([answers['name'], answers['people']], ['Ada', 2]);
});

test('an answer that replaces the one of an invitation is kept, when the answers are saved, too', async () => {
  const form = await makeTrip({ save_progress: true });
  await openVisitor(service).submit(form, { name: 'Bob', email: 'g@example.com' });
  const invited = await tenant.call('POST', `/forms/${form}/invitations`, {
    invitations: [{ email: 'g@example.com', prefill: { name: 'Ada', email: 'g@example.com' } }],
  });
  const [{ url }] = (invited.body as unknown as { data: [{ url: string }] }).data;
  const { pathname, search } = new URL(url);
  const end = await (await openPaper(service, `${pathname}${search}&people=2&meals=Dinner&city=Oslo`)).press(
    'submit',
  );
  assert.deepEqual([end.status, end.headings], [422, ['You']]);
  const corrected = await end.press('next', { email: 'h@example.com' });
  assert.deepEqual(corrected.values('email'), ['h@example.com']);
  const saved = await corrected.press('save');
  const link = saved.tags.find(({ attrs }) => attrs['href']?.includes('/resume/'))!.attrs['href']!;
  const resumed = await openPaper(service, new URL(link.replaceAll('&amp;', '&'), service.url).href);
  assert.deepEqual(resumed.values('email'), ['h@example.com']);
  const { answers } = await submissionOf(tenant, await resumed.press('submit'));
  assert.deepEqual([answers['name'], answers['email']], ['Ada', 'h@example.com']);
});

test('a request in JSON takes the same answers from its URL as the page, unless its body has others', async () => {
  const form = await makeTrip();
  const visitor = openVisitor(service);
  const refused = await visitor.submit(form, {}, '?name=Ada');
  assert.deepEqual(
    (refused.body['errors'] as { field: string }[]).map(({ field }) => field),
    ['email'],
  );
  const { body } = await visitor.submit(form, { name: 'Bob', email: 'e@example.com' }, '?name=Ada');
  assert.equal((await tenant.call('GET', `/submissions/${body.id}`)).body['answers'].name, 'Bob');
});
