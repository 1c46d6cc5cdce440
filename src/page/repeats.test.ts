import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, stepsOf } from '#test/ast/forms.ts';
import { openPaper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { asJson, openVisitor } from '#test/visitor.ts';

/* Repeated posts of one page: reloads, retries after a lost response, and a form that closes in between. */

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);

const trip = stepsOf(
  { title: 'You' },
  [element('text', 'name', { required: true })],
  { title: 'Trip' },
  [element('file_upload', 'ticket')],
  { title: 'End' },
  [element('textarea', 'notes')],
);

test('a page that is sent twice creates one submission; with other answers it offers to send them as new ones', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]));
  const page = await openPaper(service, `/f/${form}`);
  const [one, two] = [
    await page.press('submit', { name: 'Ada' }),
    await page.press('submit', { name: 'Ada' }),
  ];
  assert.deepEqual([one.status, two.location], [303, one.location]);
  const other = await page.press('submit', { name: 'Bob' });
  assert.deepEqual([other.status, other.values('name')], [409, ['Bob']]);
  assert.match(other.notice ?? '', /You can submit the answers you see now as a new response/);
  const anew = await submissionOf(tenant, await other.press('submit'));
  assert.deepEqual(anew.answers, { name: 'Bob' });
  assert.equal((await tenant.call('GET', `/forms/${form}`)).body.submission_count, 2);
});

test('a page with a file that is sent twice has one receipt, even if it is spam', async () => {
  const file = { cv: [new File(['x'], 'cv.txt')] };
  for (const website of ['', 'https://spam.example']) {
    const form = await publishForm(
      tenant,
      stepsOf({}, [element('file_upload', 'cv'), element('text', 'name', { required: true })]),
    );
    // The returned page keeps the file, as if the script had uploaded it in advance.
    const page = await (await openPaper(service, `/f/${form}`)).press('submit', file);
    assert.equal(page.status, 422);
    const press = () => page.press('submit', { name: 'Ada', _website: website });
    const [one, two] = [await press(), await press()];
    assert.deepEqual([one.status, two.status, two.location], [303, 303, one.location], website);
  }
});

test('saving answers that were already submitted returns their receipt; different answers stay on the page, to be sent as new ones', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { save_progress: true });
  const page = await openPaper(service, `/f/${form}`);
  const sent = await page.press('submit', { name: 'Ada' });
  assert.equal(sent.status, 303);
  const same = await page.press('save', { name: 'Ada' });
  assert.deepEqual([same.status, same.location], [303, sent.location]);
  const other = await page.press('save', { name: 'Bob' });
  assert.deepEqual([other.status, other.values('name')], [409, ['Bob']]);
  assert.match(other.notice ?? '', /You can submit the answers you see now as a new response/);
  assert.equal((await other.press('save')).status, 200);
  const anew = await submissionOf(tenant, await other.press('submit'));
  assert.deepEqual(anew.answers, { name: 'Bob' });
  const key = page.values('_key')[0]!;
  for (const name of ['Ada', 'Bob']) {
    const saved = await visitor.post(
      form,
      [
        ['_key', key],
        ['name', name],
        ['_go', 'save'],
      ],
      asJson,
    );
    assert.deepEqual([saved.status, saved.body.error], [409, 'conflict']);
  }
});

test('a repeated post gets its receipt again after the form has closed, and any other request gets 410', async () => {
  const form = await publishForm(tenant, trip);
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const last = await second.press('next', { ticket: [new File(['x'], 't.txt')] });
  const sent = await last.press('submit');
  assert.equal(sent.status, 303);
  for (const settings of [{ closes_at: '2020-01-01T00:00:00Z' }, { access: 'closed' }]) {
    assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: trip, settings })).status, 200);
    assert.equal((await last.press('submit')).location, sent.location);
    assert.equal((await last.press('submit', { notes: 'more' })).status, 410);
    for (const go of ['next', 'back', 'save']) assert.equal((await last.press(go)).status, 410, go);
    assert.equal((await last.press('', { _add: 'team' })).status, 410, 'another row');
    assert.equal((await openPaper(service, `/f/${form}`)).status, 410);
    const anew = { ...asJson, headers: { ...asJson.headers, 'Idempotency-Key': 'another' } };
    assert.equal((await visitor.post(form, [['name', 'Eve']], anew)).status, 410);
  }
  const { submission_count } = (await tenant.call('GET', `/forms/${form}`)).body;
  assert.equal(submission_count, 1);
});

test('answers can be edited step by step after the form has closed, and invalid ones are reported', async () => {
  const form = await publishForm(tenant, trip, { editing: true });
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const sent = await (await second.press('next')).press('submit');
  const thanks = await openPaper(service, sent.location!);
  const link = thanks.tags.find(({ attrs }) => attrs['href']?.includes('/edit/'))!.attrs['href']!;
  const settings = { editing: true, access: 'closed' };
  assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: trip, settings })).status, 200);
  const edit = await openPaper(service, link);
  assert.equal((await edit.press('next', { name: '' })).status, 422);
  const last = await (await edit.press('next', { name: 'Eve' })).press('next');
  assert.equal(last.status, 200);
  assert.equal((await submissionOf(tenant, await last.press('submit'))).answers.name, 'Eve');
});

test('a repeated post with a rejected file gets no receipt from a closed form', async () => {
  const short = stepsOf({}, [element('text', 'name'), element('file_upload', 'cv')]);
  const form = await publishForm(tenant, short);
  const page = await openPaper(service, `/f/${form}`);
  const sent = await page.press('submit', { name: 'Ada' });
  const settings = { access: 'closed' };
  assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: short, settings })).status, 200);
  assert.equal((await page.press('submit', { name: 'Ada' })).location, sent.location);
  const large = new File(['x'.repeat(10 * 1024 * 1024 + 1)], 'large.txt');
  assert.equal((await page.press('submit', { name: 'Ada', cv: [large] })).status, 410);
});
