import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element, stepsOf, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openPaper } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { listFiles, makeForm, openVisitor } from '#test/visitor.ts';

/** The preview of a working copy, as a browser of a member without script sees it. */

const service = await shareService();
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const ada = await signIn(service, { workspaceId, role: 'editor' });
const viewer = await signIn(service, { workspaceId, role: 'viewer' });
const stranger = await signIn(service);
const visitor = openVisitor(service);

const edited = stepsOf(
  { title: 'You' },
  [element('email', 'mail', { label: 'Mail', required: true }), element('file_upload', 'photo')],
  { title: 'Trip' },
  [element('text', 'place', { label: 'Place' })],
);

async function makeDraft(document: object, published = structure(element('text', 'old'))): Promise<string> {
  const { id } = await makeForm(tenant, published.children![0]!.children!, { publish: false });
  const saved = await ada.api('PUT', `/forms/${id}/draft`, document);
  assert.equal(saved.status, 200);
  return id;
}
const countOf = async (id: string): Promise<number> =>
  (await tenant.call('GET', `/forms/${id}`)).body.submission_count;

test('a member fills in the page of the working copy, and nothing is stored or counted', async () => {
  const settings = { confirmation_message: 'See you, {{mail}}', theme: { color: '#6d28d9' } };
  const id = await makeDraft({ structure: edited, settings });
  const before = await listFiles(service);
  const first = await openPaper(service, `/f/${id}/preview`, viewer.cookie);
  assert.deepEqual(first.headings, ['You']);
  assert.deepEqual(first.values('_visit'), []);
  const wrong = await first.press('next', { mail: 'me' });
  assert.equal(wrong.problems.length, 1);
  const next = await wrong.press('next', { mail: 'ada@example.com', photo: [new File(['x'], 'a.txt')] });
  assert.equal((await listFiles(service)).length, before.length + 1);
  const sent = await next.press('submit', { place: 'Bonn' });
  assert.match(sent.location!, new RegExp(`^/f/${id}/preview/submitted\\?receipt=`));
  assert.deepEqual(await listFiles(service), before);
  const confirmation = await visitor.fetch(sent.location!, { headers: { Cookie: viewer.cookie } });
  assert.match(confirmation.text, /See you, .*ada@example\.com/);
  assert.match(confirmation.text, new RegExp(`href="/f/${id}/preview"`));
  assert.equal(await countOf(id), 0);
  const { body } = await ada.api<{ views: number }>('GET', `/forms/${id}/analytics`);
  assert.equal(body.views, 0);
});

test('the page can be framed by the console, has the script, and follows the working copy', async () => {
  const id = await makeDraft({ structure: edited });
  const read = () =>
    visitor.fetch(`/f/${id}/preview?_scheme=dark&_embed=1`, { headers: { Cookie: ada.cookie } });
  const page = await read();
  assert.match(page.headers.get('content-security-policy')!, /; frame-ancestors 'self'$/);
  assert.match(page.text, new RegExp(`"upload":"/f/${id}/preview/files"`));
  assert.match(page.text, /color-scheme:dark/);
  const change = { structure: structure(element('text', 'a', { label: 'Changed' })) };
  await ada.api('PUT', `/forms/${id}/draft`, change);
  assert.match((await read()).text, /Changed/);
});

test('an invalid setting is left out, and a color with little contrast is shown', async () => {
  const theme = { color: '#ffd400', background: 'red;}', font: '#ffffff', corner: 'round' };
  const id = await makeDraft({ structure: edited, settings: { theme, closes_at: 'soon' } });
  const { status, text } = await visitor.fetch(`/f/${id}/preview`, { headers: { Cookie: ada.cookie } });
  assert.equal(status, 200);
  assert.match(text, /--accent:#ffd400/);
  assert.doesNotMatch(text, /red;}/);
});

test('"Save and continue later" leads back to the preview', async () => {
  const id = await makeDraft({ structure: edited, settings: { save_progress: true } });
  const page = await openPaper(service, `/f/${id}/preview`, ada.cookie);
  const saved = await page.press('save', { mail: 'ada@example.com' });
  assert.equal(saved.status, 200);
  assert.ok(saved.tags.some(({ attrs }) => attrs['href']?.endsWith(`/f/${id}/preview`)));
});

test('only members of the workspace see a preview, and only from this site', async () => {
  const id = await makeDraft({ structure: edited });
  const statusOf = async (path: string, request: RequestInit = {}) =>
    (await visitor.fetch(path, request)).status;
  const as = (cookie: string, more: object = {}) => ({ headers: { Cookie: cookie, ...more } });
  assert.equal(await statusOf(`/f/${id}/preview`), 401);
  assert.equal(await statusOf(`/f/${id}/preview`, as(stranger.cookie)), 404);
  assert.equal(await statusOf(`/f/${newId()}/preview`, as(ada.cookie)), 404);
  assert.equal(await statusOf('/f/x/preview', as(ada.cookie)), 404);
  assert.equal(await statusOf(`/f/${id}/preview/submitted`), 401);
  const body = new URLSearchParams({ _go: 'submit', _step: '0' });
  const post = { method: 'POST', body };
  assert.equal(await statusOf(`/f/${id}/preview`, post), 401);
  const foreign = as(ada.cookie, { Origin: 'https://example.com' });
  assert.equal(await statusOf(`/f/${id}/preview`, { ...post, ...foreign }), 403);
  const file = new FormData();
  file.append('photo', new File(['x'], 'a.txt'));
  assert.equal(await statusOf(`/f/${id}/preview/files`, { method: 'POST', body: file }), 401);
  const incomplete = await makeDraft({ structure: { type: 'form', attrs: {}, children: [] } });
  const page = await visitor.fetch(`/f/${incomplete}/preview`, as(ada.cookie, { Accept: 'text/html' }));
  assert.equal(page.status, 422);
  assert.match(page.text, /The form is incomplete: /);
});

test('the preview of a quiz shows its result, although nothing is stored', async () => {
  const quiz = structure(
    element('number', 'n', { label: 'Two and two', correct: [4], explanation: 'Count them.' }),
    element('score', 'score', { label: 'Score' }),
  );
  const id = await makeDraft({ structure: quiz, settings: { quiz_results: 'answers', locale: 'en' } });
  const page = await openPaper(service, `/f/${id}/preview`, ada.cookie);
  const sent = await page.press('submit', { n: '5' });
  const { text } = await visitor.fetch(sent.location!, { headers: { Cookie: ada.cookie } });
  for (const part of ['0 of 1 point', 'Wrong', 'Count them.']) assert.ok(text.includes(part), text);
  assert.equal(await countOf(id), 0);
});
