import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, stepsOf, structure } from '#test/ast/forms.ts';
import { openPaper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';

const service = await shareService();
const tenant = await service.makeTenant();

/** `Zo\u00eb`, as macOS writes it in file names and as keyboards type it. */
const [nfd, nfc] = ['Zoe\u0308', 'Zo\u00eb'];

type Sent = { status: number; body: { id: string; errors?: { field: string; message: string }[] } };

async function post(
  form: string,
  body: string | FormData,
  type: string | undefined,
  query = '',
): Promise<Sent> {
  const headers = { Accept: 'application/json', ...(type && { 'Content-Type': type }) };
  const response = await fetch(`${service.url}/f/${form}${query}`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Sent['body'] };
}

const postJson = (form: string, answers: object, query?: string): Promise<Sent> =>
  post(form, JSON.stringify({ answers }), 'application/json', query);

async function storedOf(sent: Sent) {
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  const { body } = await tenant.call('GET', `/submissions/${sent.body.id}`);
  return { answers: body.answers, reference: body.metadata.reference };
}

/** The three ways in which an HTML page or a program submits answers. */
const doors = {
  JSON: postJson,
  'an HTML form': (form: string, answers: object, query?: string) =>
    post(
      form,
      new URLSearchParams(answers as Record<string, string>).toString(),
      'application/x-www-form-urlencoded',
      query,
    ),
  multipart: (form: string, answers: object, query?: string) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(answers)) data.append(name, String(value));
    return post(form, data, undefined, query);
  },
};

for (const [door, send] of Object.entries(doors)) {
  test(`decomposed text sent by ${door} is stored, compared and found as composed text`, async () => {
    const form = await publishForm(
      tenant,
      stepsOf({}, [
        element('text', 'name', { max_length: 3, unique: true }),
        element('radio', 'who', { options: ['Ada', nfd] }),
        element('radio', 'free', { other: true }),
        element('text', 'more', { required: true, show_when: { element: 'name', is: 'equals', value: nfd } }),
      ]),
    );
    const answers = { name: nfd, who: nfd, '_other[free]': nfd, more: 'x' };
    const given = door === 'JSON' ? { name: nfd, who: nfd, free: nfd, more: 'x' } : answers;
    const { answers: stored, reference } = await storedOf(
      await send(form, given, `?${encodeURIComponent(nfd)}=${encodeURIComponent(nfd)}`),
    );
    assert.deepEqual(stored, { name: nfc, who: nfc, free: nfc, more: 'x' });
    assert.deepEqual(reference, { [nfc]: nfc });
    const again = await send(form, { name: nfc, more: 'x' });
    assert.equal(again.status, 422, 'the same name is taken already');
    for (const text of [nfd, nfc]) {
      const where = (value: string) =>
        encodeURIComponent(`{"element":"name","is":"equals","value":"${value}"}`);
      const lists = [
        `/submissions/search?q=${encodeURIComponent(text)}&form_id=${form}`,
        `/forms/${form}/submissions?where=${where(text)}`,
        `/forms/${form}/submissions?where=${where('Zoe\\u0308')}`,
      ];
      for (const path of lists) {
        const found = await tenant.call('GET', path);
        assert.equal(found.body.pagination?.total_count, 1, `${path} ${JSON.stringify(found.body)}`);
      }
    }
  });

  test(`invisible characters around an answer sent by ${door} are trimmed for every type`, async () => {
    const form = await publishForm(
      tenant,
      stepsOf({}, [
        element('text', 'text', { required: true }),
        element('textarea', 'textarea'),
        element('email', 'email'),
        element('phone', 'phone'),
        element('url', 'url'),
        element('date', 'date'),
        element('time', 'time'),
        element('radio', 'radio', { options: ['Tea'] }),
        element('hidden', 'hidden'),
        element('number', 'number'),
      ]),
    );
    const plain = {
      text: '\u2764\ufe0f',
      textarea: 'a\n\u200bb',
      email: 'a@b.example',
      phone: '+49 30 123456',
      url: 'https://b.example/',
      date: '2026-01-31',
      time: '09:30',
      radio: 'Tea',
      hidden: 'x',
    };
    const around = (text: string): string => `\u3164\u2060 ${text}\u200e\u2800\u00ad`;
    const sent = Object.fromEntries(Object.entries(plain).map(([id, text]) => [id, around(text)]));
    const number = door === 'JSON' ? 4.5 : around('4.5');
    const { answers } = await storedOf(await send(form, { ...sent, number }));
    assert.deepEqual(answers, { ...plain, number: 4.5 });
    const blank = await send(form, { text: '\u200b\u{e0041}\ufe0f\u2800' });
    assert.deepEqual([blank.status, blank.body.errors?.map(({ field }) => field)], [422, ['text']]);
  });

  test(`a hidden question gets its value from the URL of ${door}, unless the body has one`, async () => {
    const form = await publishForm(
      tenant,
      stepsOf({}, [
        element('text', 'name'),
        element('hidden', 'source'),
        element('hidden', 'campaign'),
        composite('group', [element('hidden', 'inner')]),
      ]),
    );
    const query = '?source=mail&campaign=autumn+sale&inner=in&name=Ada&utm=x';
    const sent = await storedOf(await send(form, { name: 'Eve', source: 'body' }, query));
    assert.deepEqual(sent, {
      answers: { name: 'Eve', source: 'body', campaign: 'autumn sale', inner: 'in' },
      reference: { utm: 'x' },
    });
    // Visible questions ignore the URL, because the visitor answers them.
    assert.deepEqual((await storedOf(await send(form, {}, '?name=Ada&source=s'))).answers, { source: 's' });
  });
}

test('texts of a form and its settings are stored composed, and unknown attributes are stored as sent', async () => {
  const node = element('radio', 'who', { label: nfd, options: [nfd], 'x-note': nfd });
  const created = await tenant.call('POST', '/forms', {
    structure: structure(node),
    settings: { confirmation_message: nfd },
  });
  const { attrs } = (created.body.structure as unknown as { children: { children: { attrs: object }[] }[] })
    .children[0]!.children[0]!;
  assert.partialDeepStrictEqual(attrs, { label: nfc, options: [nfc], 'x-note': nfd });
  const { body } = await tenant.call('GET', `/forms/${created.body.id}`);
  assert.equal((body.settings as { confirmation_message?: string }).confirmation_message, nfc);
});

test('a URL may contain a plain plus sign in a phone number, an email address and a web address', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('phone', 'phone'),
      element('email', 'email'),
      element('url', 'url'),
      element('text', 'text'),
      composite('team', [element('phone', 'call')], { repeatable: true }),
    ]),
  );
  const values = async (query: string): Promise<unknown[]> => {
    const page = await openPaper(service, `/f/${form}?${query}`);
    return ['phone', 'email', 'url', 'text', 'team[0][call]'].flatMap((name) => page.values(name));
  };
  const read = ['+49 30 1234', 'a+b@c.example', 'https://c.example/?q=a+b', 'a b', '+491234'];
  for (const query of [
    'phone=+49%2030%201234&email=a+b@c.example&url=https://c.example/?q=a%2Bb&text=a+b&team[0][call]=+491234',
    'phone=+49+30+1234&email=a%2Bb%40c.example&url=https://c.example/?q=a+b&text=a%20b&team[0][call]=%2B491234',
    new URLSearchParams({
      phone: read[0]!,
      email: read[1]!,
      url: read[2]!,
      text: read[3]!,
      'team[0][call]': read[4]!,
    }).toString(),
  ])
    assert.deepEqual(await values(query), read, query);
  const page = await openPaper(service, `/f/${form}?phone=+49301234`);
  const { answers } = await submissionOf(tenant, await page.press('submit', {}));
  assert.deepEqual(answers, { phone: '+49301234' });
});
