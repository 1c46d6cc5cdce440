import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { newId } from '#kit/clock.ts';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { filenameOf, openPaper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { limitSaves } from './visit/screening.ts';

/** Other cases of a visitor without scripts: prefilled URLs, custom options, links and limits. */

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);

const trip = stepsOf(
  { title: 'You' },
  [element('text', 'name', { required: true })],
  { title: 'Trip' },
  [element('radio', 'colour'), element('file_upload', 'ticket')],
  { title: 'End' },
  [element('textarea', 'notes')],
);

test('a URL prefills questions by ID, reports and leaves out invalid values, and stores other parameters as reference data', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('text', 'name'),
      element('number', 'age', { max: 150 }),
      element('number', 'height'),
      element('text', 'city', { required: true }),
      element('multiple_choice', 'topics'),
      composite('team', [element('text', 'member')], { repeatable: true }),
    ]),
  );
  const query =
    '?name=Ada&age=200&topics=Red&topics=Blue&team[0][member]=Bob&utm=mail&utm=two&_lang=de&city=M%FCnchen';
  const page = await openPaper(service, `/f/${form}${query}`);
  assert.deepEqual(
    ['name', 'age', 'topics', 'team[0][member]'].map((name) => page.values(name)),
    [['Ada'], [''], ['Red', 'Blue'], ['Bob']],
  );
  assert.equal(page.tags.find(({ tag }) => tag === 'html')?.attrs['lang'], 'de');
  assert.match(page.notice ?? '', /waren ungültig.*: The city, The age\.$/);
  const sent = await page.press('submit', { name: 'Eve', city: 'Bonn', height: '1,75' });
  const { answers, metadata } = await submissionOf(tenant, sent);
  assert.deepEqual(answers, {
    name: 'Eve',
    city: 'Bonn',
    height: 1.75,
    topics: ['Red', 'Blue'],
    team: [{ member: 'Bob' }],
  });
  assert.deepEqual(metadata.reference, { utm: 'mail' });
});

test('a URL without invalid values shows no notice; one that prefills a question twice does', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [element('text', 'name', { required: true }), element('number', 'age')]),
  );
  const right = await openPaper(service, `/f/${form}?age=1.5&utm=x`);
  assert.deepEqual([right.notice, right.values('age')], [undefined, ['1.5']]);
  const twice = await openPaper(service, `/f/${form}?name=a&name=b`);
  assert.match(twice.notice ?? '', /were left blank: The name\.$/);
  assert.deepEqual(twice.values('name'), ['']);
});

test('a body in another charset is converted, and bytes invalid in their charset are rejected', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [element('text', 'name'), element('file_upload', 'cv')]),
  );
  const send = (contentType: string, body: string) =>
    visitor.fetch(`/f/${form}`, {
      method: 'POST',
      headers: { 'Content-Type': contentType, Accept: 'application/json' },
      body: Buffer.from(body, 'latin1'),
    });
  const part = (headers: string, value: string) =>
    send('multipart/form-data; boundary=b', `--b\r\n${headers}\r\n\r\n${value}\r\n--b--\r\n`);
  const named = 'Content-Disposition: form-data; name="name"';
  const urlencoded = 'application/x-www-form-urlencoded';
  for (const sent of [
    send(`${urlencoded}; charset=iso-8859-1`, 'name=M%FCller'),
    send(urlencoded, 'name=M%FCller&_charset_=windows-1252'),
    send(urlencoded, 'name=M%C3%BCller'),
    part(`${named}\r\nContent-Type: text/plain; charset=ISO-8859-1`, 'M\xfcller'),
    part(`Content-Type: text/plain;charset="windows-1252"\r\n${named}`, 'M\xfcller'),
    part(named, 'M\xc3\xbcller'),
    part(`Content-Disposition: form-data; name="_charset_"\r\n\r\nlatin1\r\n--b\r\n${named}`, 'M\xfcller'),
  ]) {
    const { status, body, text } = await sent;
    assert.equal(status, 201, text);
    const { answers } = (await tenant.call('GET', `/submissions/${body.id}`)).body;
    assert.deepEqual(answers, { name: 'Müller' });
  }
  for (const sent of [
    send(urlencoded, 'name=M%FCller'),
    part(named, 'M\xfcller'),
    part(`${named}\r\nContent-Type: text/plain; charset=utf-8`, 'M\xfcller'),
  ]) {
    const { status, text } = await sent;
    assert.deepEqual([status, /bytes that are not valid utf-8/.test(text)], [400, true], text);
  }
  const twice = await send(urlencoded, 'name=a&name=b');
  assert.deepEqual([twice.status, twice.body.errors[0]?.field], [422, 'name']);
  assert.equal((await part(`${named}\r\nContent-Type: text/plain; charset=x`, 'a')).status, 415);
});

test('hostile prefill and reference data are text in the page and data in the submission (T5, T6, T23, T24)', async () => {
  const payload = `"><script src=//evil.example></script><!--</script>'\u2028{{7*7}}\u0001.`;
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('text', 'name'),
      element('textarea', 'note', { show_when: { reference: 'ref', is: 'answered' } }),
    ]),
  );
  const query = new URLSearchParams([
    ['name', payload],
    ['note', payload],
    ['ref', payload],
    [payload, payload],
    ['__proto__', 'polluted'],
    ['constructor', 'polluted'],
    ['workspace_id', 'elsewhere'],
    ['_key', payload],
    ['_step', '99'],
    ['_website', ''],
  ]).toString();
  const page = await openPaper(service, `/f/${form}?${query}`);
  assert.deepEqual([page.status, page.values('name'), page.values('note')], [200, [payload], [payload]]);
  const scripts = page.tags
    .filter(({ tag }) => tag === 'script')
    .map(({ attrs }) => attrs['src'] ?? attrs['id']);
  assert.ok(
    scripts.every((from) => from === '_form' || from?.startsWith('/f/assets/')),
    scripts.join(),
  );
  const { answers, metadata, workspace_id } = await submissionOf(tenant, await page.press('submit'));
  assert.deepEqual(answers, { name: payload, note: payload });
  assert.deepEqual(
    Object.entries(metadata.reference).sort(),
    [
      [payload, payload],
      ['constructor', 'polluted'],
      ['ref', payload],
      ['workspace_id', 'elsewhere'],
    ].sort(),
  );
  // `__proto__` begins with `_`: that prefix belongs to the page, so it is not reference data.
  assert.notEqual(workspace_id, 'elsewhere');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

for (const [type, written, expected] of [
  ['radio', ['_other', 'Mauve'], 'Mauve'],
  ['radio', ['Red', 'left over'], 'Red'],
  ['radio', ['', 'Mauve'], 'Mauve'],
  ['dropdown', ['_other', 'Mauve'], 'Mauve'],
  ['multiple_choice', [['Red', '_other'], 'Mauve'], ['Red', 'Mauve']],
] as const) {
  test(`${type} with a custom option: ${JSON.stringify(written)} gives the answer ${JSON.stringify(expected)}, and is shown again`, async () => {
    const form = await publishForm(
      tenant,
      stepsOf({}, [element(type, 'colour', { other: true }), element('text', 'b', { required: true })]),
    );
    const [colour, own] = written;
    const page = await openPaper(service, `/f/${form}`);
    const again = await page.press('submit', { colour, '_other[colour]': own });
    assert.equal(again.status, 422);
    const { answers } = await submissionOf(tenant, await again.press('submit', { b: 'x' }));
    assert.deepEqual(answers.colour, expected);
  });
}

test('IDs that the language itself uses accept text, choices and files', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('text', 'toString'),
      element('file_upload', 'valueOf'),
      element('multiple_choice', 'hasOwnProperty'),
      element('text', 'x'),
      element('text', 'x-error'),
    ]),
  );
  const page = await openPaper(service, `/f/${form}`);
  const ids = page.tags.map(({ attrs }) => attrs['id']).filter((id) => id !== undefined);
  assert.equal(new Set(ids).size, ids.length);
  const sent = await page.press('submit', {
    toString: 'Ada',
    valueOf: [new File(['x'], 'a.txt')],
    hasOwnProperty: ['Red'],
  });
  const { answers } = await submissionOf(tenant, sent);
  // A map: property access would find the language's own members.
  const read = new Map(Object.entries(answers));
  const [name, topics, file] = ['toString', 'hasOwnProperty', 'valueOf'].map((id) => read.get(id));
  assert.deepEqual([name, topics, filenameOf(file)], ['Ada', ['Red'], 'a.txt']);
});

test('a number above 2^53 is rejected and shown as it was written, not rounded', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('number', 'n')]));
  for (const written of ['9007199254740993', '-9007199254740993', '1e400']) {
    const again = await (await openPaper(service, `/f/${form}`)).press('submit', { n: written });
    assert.deepEqual([again.status, again.values('n')], [422, [written]]);
  }
  const { answers } = await submissionOf(
    tenant,
    await (await openPaper(service, `/f/${form}`)).press('submit', { n: '9007199254740991' }),
  );
  assert.equal(answers.n, 9_007_199_254_740_991);
});

test('"Other" without text is an error, and stays selected on the page with the error', async () => {
  for (const type of ['radio', 'dropdown', 'multiple_choice'] as const) {
    const form = await publishForm(tenant, stepsOf({}, [element(type, 'colour', { other: true })]));
    const again = await (await openPaper(service, `/f/${form}`)).press('submit', { colour: '_other' });
    assert.deepEqual(again.problems, ['The colour: Write your own answer, or choose an option'], type);
    assert.deepEqual(again.values('colour'), ['_other'], type);
    const blank = await (await openPaper(service, `/f/${form}`)).press('submit', { colour: '' });
    assert.equal(blank.status, 303, type);
  }
});

test('answers are saved with their files, resumed by a link on another device, and submitted once', async () => {
  const form = await publishForm(tenant, trip, { save_progress: true });
  const second = await (await openPaper(service, `/f/${form}?ref=mail`)).press('next', { name: 'Ada' });
  const saved = await second.press('save', { colour: 'Blue', ticket: [new File(['x'], 't.txt')] });
  assert.equal(saved.status, 200);
  const link = saved.tags.find(({ tag, text }) => tag === 'a' && text.includes('/resume/'))!.attrs['href']!;
  const resumed = await openPaper(service, new URL(link).pathname);
  assert.deepEqual(
    [resumed.headings, resumed.values('colour'), resumed.values('name')],
    [['Trip'], ['Blue'], ['Ada']],
  );
  assert.match(resumed.notice ?? '', /have been restored/);
  const last = await resumed.press('next');
  const { answers, metadata, status } = await submissionOf(tenant, await last.press('submit'));
  assert.deepEqual([status, answers.colour, filenameOf(answers.ticket)], ['completed', 'Blue', 't.txt']);
  assert.deepEqual(metadata.reference, { ref: 'mail' });
  const used = await openPaper(service, new URL(link).pathname);
  assert.equal(used.status, 410);
  assert.equal((await openPaper(service, `/f/${form}/resume/${'x'.repeat(43)}`)).status, 404);
});

test('the confirmation links back to the answers, which can be changed under the same receipt', async () => {
  const form = await publishForm(tenant, trip, { editing: true });
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const third = await second.press('next', { ticket: [new File(['x'], 't.txt')] });
  const sent = await third.press('submit');
  const before = await submissionOf(tenant, sent);
  const thanks = await openPaper(service, sent.location!);
  const link = thanks.tags.find(({ attrs }) => attrs['href']?.includes('/edit/'))!.attrs['href']!;
  const edit = await openPaper(service, link);
  assert.deepEqual(
    [edit.status, edit.values('name'), edit.values('_file[ticket]').length],
    [200, ['Ada'], 1],
  );
  const changed = await (await (await edit.press('next', { name: 'Eve' })).press('next')).press('submit');
  const after = await submissionOf(tenant, changed);
  assert.deepEqual(
    [after.id, after.answers.name, filenameOf(after.answers.ticket)],
    [before.id, 'Eve', 't.txt'],
  );
  const outdated = await (await (await edit.press('next', { name: 'Bob' })).press('next')).press('submit');
  assert.equal(outdated.status, 412);
  assert.match(outdated.notice ?? '', /changed elsewhere/);
  assert.equal((await submissionOf(tenant, await outdated.press('submit'))).answers.name, 'Bob');
  assert.equal((await openPaper(service, `/f/${form}/edit/${'x'.repeat(43)}`)).status, 404);
});

test("a submission redirects to the author's URL with the receipt, and the page's policy allows it", async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), {
    redirect_url: 'https://example.com/thanks?a=1',
  });
  const { headers } = await visitor.fetch(`/f/${form}`);
  assert.match(headers.get('content-security-policy') ?? '', /form-action 'self' https:\/\/example\.com;/);
  const sent = await (await openPaper(service, `/f/${form}`)).press('submit');
  assert.match(sent.location ?? '', /^https:\/\/example\.com\/thanks\?a=1&receipt=[0-9a-f-]{36}$/);
});

test('a form with a password asks for it, and then remembers this browser', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), {
    access: 'password',
    password: 'open sesame',
  });
  const door = await openPaper(service, `/f/${form}?ref=a`);
  assert.equal(door.status, 403);
  const wrong = await door.press('', { _password: 'sesame' });
  assert.equal(wrong.status, 403);
  assert.ok(wrong.tags.some(({ text, attrs }) => attrs['id'] === 'error~password' && text !== ''));
  const body = new URLSearchParams({ _password: 'open sesame' });
  const entered = await visitor.fetch(`/f/${form}/enter?ref=a`, { method: 'POST', body });
  assert.deepEqual([entered.status, entered.headers.get('location')], [303, `/f/${form}?ref=a`]);
  const cookie = entered.headers.get('set-cookie')!.split(';')[0]!;
  const page = await openPaper(service, `/f/${form}?ref=a`, cookie);
  assert.equal((await page.press('submit', { name: 'Ada' })).status, 303);
});

test('an unpublished form is answered like a missing one, whatever its theme and language', async () => {
  const { body: draft } = await tenant.call('POST', '/forms', {
    structure: stepsOf({}, [element('text', 'name')]),
    settings: { theme: { color: '#004488' }, locale: 'de' },
  });
  const [there, absent] = [await visitor.fetch(`/f/${draft.id}`), await visitor.fetch(`/f/${newId()}`)];
  assert.deepEqual([there.status, there.text], [404, absent.text]);
  const policies = [there, absent].map(({ headers }) => headers.get('content-security-policy'));
  assert.equal(policies[0], policies[1]);
});

test('an invalid link is reported in the theme and language of its form, but a draft reveals nothing', async () => {
  const settings = { theme: { color: '#004488' }, locale: 'de' };
  const form = await makeForm(tenant, [element('text', 'name')], { settings });
  const draft = await makeForm(tenant, [element('text', 'name')], { publish: false, settings });
  const wears = (text: string): boolean => text.includes('#004488') || text.includes('Dieser Link');
  for (const link of ['resume', 'edit']) {
    const { status, text } = await visitor.fetch(`/f/${form.id}/${link}/none`);
    assert.deepEqual(
      [status, wears(text), /<h2>(.*)<\/h2>/.exec(text)?.[1]],
      [404, true, 'Dieser Link funktioniert nicht'],
    );
    assert.ok(text.includes('#004488'), 'its colour');
    assert.equal(wears((await visitor.fetch(`/f/${draft.id}/${link}/none`)).text), false);
  }
});

const shut: Readonly<Record<string, [settings: object, message: RegExp, next: RegExp]>> = {
  'is closed': [{ access: 'closed' }, /This form is closed/, /contact the person who shared this form/],
  'is not open yet': [
    { opens_at: '2120-11-30T08:00:00Z', time_zone: 'Europe/Berlin' },
    /This form is not open yet/,
    /It opens on November 30, 2120 at 9:00\sAM GMT\+1\./,
  ],
  'is behind a password': [
    { access: 'password', password: 'open sesame' },
    /Password required/,
    /Ask the person who shared this form for the password/,
  ],
  'is for invited people': [{ access: 'invited' }, /By invitation only/, /Use the link in your invitation/],
  'is full': [{ max_submissions: 1 }, /This form is full/, /contact the person who shared this form/],
};
for (const [what, [settings, message, next]] of Object.entries(shut)) {
  test(`the page of a form that ${what} shows its theme, its name and what to do next`, async () => {
    const theme = { color: '#004488' };
    const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { ...settings, theme });
    if ('max_submissions' in settings) await (await openPaper(service, `/f/${form}`)).press('submit');
    const { tags } = await openPaper(service, `/f/${form}`);
    const { text } = await visitor.fetch(`/f/${form}`);
    assert.deepEqual(
      tags.filter(({ tag }) => tag === 'h1').map(({ text: name }) => name),
      ['Contact'],
    );
    assert.match(text, /--accent:#004488/);
    for (const sentence of [message, next]) assert.match(text, sentence);
  });
}

test('a theme sets the submit label and the confirmation title, and can show the full ID instead of a short reference', async () => {
  const theme = {
    submit_label: 'Book <now>',
    confirmation_title: 'See you on Monday',
  };
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { theme });
  const page = await visitor.fetch(`/f/${form}`);
  assert.match(page.text, /class="submit">Book &lt;now&gt;</);
  const receipt = newId();
  const { text } = await visitor.fetch(`/f/${form}/submitted?receipt=${receipt}`);
  assert.match(text, /<h1[^>]*>See you on Monday<\/h1>/);
  assert.match(text, /<title>See you on Monday – [^<]+<\/title>/);
  assert.ok(text.includes(`>${formatSubmissionReference(receipt)}</code>`));
  assert.ok(!text.includes(`>${receipt}<`));
  const full = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), {
    theme: { ...theme, short_reference: false },
  });
  const shown = await visitor.fetch(`/f/${full}/submitted?receipt=${receipt}`);
  assert.ok(shown.text.includes(`>${receipt}</code>`));
});

test('a theme sets the favicon and the link preview, and only the page of the form shows them', async () => {
  const square = await sharp({ create: { width: 300, height: 300, channels: 4, background: '#0b665580' } })
    .png()
    .toBuffer();
  const { body } = await tenant.call('POST', '/images', square);
  const theme = {
    favicon: body.id,
    social_title: 'Join us',
    social_image: body.id,
    logo: body.id,
    logo_dark: body.id,
  };
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { theme });
  const place = `/f/${form}/images/${body.id}`;
  const { text } = await visitor.fetch(`/f/${form}`);
  assert.ok(text.includes(`<link rel="icon" href="${place}-icon.png">`), text);
  assert.ok(text.includes('<meta property="og:title" content="Join us">'));
  assert.ok(
    text.includes(`<meta property="og:image" content="${service.services.config.publicUrl}${place}">`),
  );
  assert.ok(text.includes('<meta property="og:image:width" content="300">'));
  const icon = await fetch(`${service.url}${place}-icon.png`);
  assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/png']);
  const plain = await publishForm(tenant, stepsOf({}, [element('text', 'name')]));
  assert.doesNotMatch((await visitor.fetch(`/f/${plain}`)).text, /og:|rel="icon"/);
});

test('a dark page has the logo for dark pages: by device setting, by theme, and by the host page', async () => {
  const paint = (background: string) =>
    sharp({ create: { width: 40, height: 20, channels: 3, background } })
      .png()
      .toBuffer();
  const [light, dark] = await Promise.all(
    ['#000000', '#ffffff'].map(
      async (colour) => (await tenant.call('POST', '/images', await paint(colour))).body.id,
    ),
  );
  const logos = { logo: light, logo_dark: dark };
  const show = async (theme: object, query = ''): Promise<string> => {
    const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { theme });
    const [picture] =
      (await visitor.fetch(`/f/${form}${query}`)).text.match(/<picture>.*?<\/picture>/s) ?? [];
    return picture!.replaceAll(/\s/g, ' ');
  };
  const isIn = (markup: string, id: string | undefined): boolean => markup.includes(`/images/${id}`);
  const byDevice = await show(logos);
  assert.match(byDevice, new RegExp(`media="\\(prefers-color-scheme: dark\\)"`));
  assert.ok(isIn(byDevice.slice(0, byDevice.indexOf('media=')), dark));
  assert.ok(isIn(byDevice.slice(byDevice.indexOf('<img')), light));
  for (const [theme, query, shown, other] of [
    [{ ...logos, mode: 'dark' }, '', dark, light],
    [{ ...logos, mode: 'light' }, '', light, dark],
    [logos, '?_embed=1&_scheme=dark', dark, light],
    [logos, '?_embed=1', light, dark],
  ] as const) {
    const picture = await show(theme, query);
    assert.deepEqual([isIn(picture, shown), isIn(picture, other)], [true, false], `${theme.logo} ${query}`);
  }
});

test('a page that the browser posts again after the submit shows no answers and links to a new form', async () => {
  const form = await publishForm(tenant, trip);
  const first = await openPaper(service, `/f/${form}?utm=mail`);
  const second = await first.press('next', { name: 'Ada' });
  const third = await second.press('next', { colour: 'Red' });
  assert.match((await third.press('submit')).location ?? '', /submitted\?/);
  for (const [page, go] of [
    [first, 'next'],
    [second, 'next'],
    [third, 'back'],
    [second, 'back'],
  ] as const) {
    const again = await page.press(go, { name: 'Ada' });
    assert.deepEqual([again.status, again.location], [303, `/f/${form}?utm=mail`], go);
  }
  const fresh = await openPaper(service, `/f/${form}?utm=mail`);
  assert.deepEqual(fresh.values('name'), ['']);
});

test('an embedded form that does not exist says so inside the host page', async () => {
  const { status, text, headers } = await visitor.fetch(`/f/${newId()}?_embed=1`);
  assert.equal(status, 404);
  assert.match(text, /There is no form at this address\.[^]*Ask the person who shared it/);
  assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors \*/);
});

test('password attempts are counted together, however the ID in the URL is written', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), {
    access: 'password',
    password: 'open sesame',
  });
  const guess = async (id: string) => {
    const body = new URLSearchParams({ _password: 'guess' });
    return (await visitor.fetch(`/f/${id}/enter`, { method: 'POST', body })).status;
  };
  for (let tries = 0; tries < 10; tries += 1) assert.equal(await guess(form), 403);
  assert.deepEqual([await guess(form), await guess(form.toUpperCase())], [429, 429]);
});

test('over a limit, the page returns with a 429 and every answer, to be sent again', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { limit_per_form: 1 });
  assert.equal((await (await openPaper(service, `/f/${form}`)).press('submit', { name: 'Ada' })).status, 303);
  const late = await (await openPaper(service, `/f/${form}`)).press('submit', { name: 'Bob' });
  assert.deepEqual([late.status, late.values('name')], [429, ['Bob']]);
  assert.match(late.notice ?? '', /Wait a moment/);
});

test('a visitor who saves more often than a person can also gets the page back with every answer', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { save_progress: true });
  const page = await openPaper(service, `/f/${form}`);
  const address = ipRateLimitKey('127.0.0.1');
  for (let saves = 0; saves < 120; saves += 1)
    await limitSaves(service.services.requestCounter, form, address);
  const late = await page.press('save', { name: 'Ada' });
  assert.deepEqual([late.status, late.values('name')], [429, ['Ada']]);
  assert.match(late.notice ?? '', /Wait a moment/);
});

test('a sender who fills in the invisible field gets the usual response, and the submission is spam', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]));
  const sent = await (await openPaper(service, `/f/${form}`)).press('submit', { name: 'Bot', _website: 'x' });
  assert.equal(sent.status, 303);
  assert.equal((await tenant.call('GET', `/forms/${form}`)).body.submission_count, 0);
});
