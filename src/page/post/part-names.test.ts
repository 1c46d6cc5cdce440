import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();
const form = await makeForm(tenant, [element('file_upload', 'cv')]);

/** Posts one file whose part has this `Content-Disposition`, and returns its name in the submission. */
async function nameOf(disposition: string): Promise<string | undefined> {
  const { status, text } = await visitor.fetch(`/f/${form.id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...asJson.headers },
    body: `--b\r\nContent-Disposition: ${disposition}\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n`,
  });
  assert.equal(status, 201, `${disposition}: ${text}`);
  const { id } = JSON.parse(text) as { id: string };
  const { answers } = (await tenant.call('GET', `/submissions/${id}`)).body as {
    answers: { cv?: { filename: string }[] };
  };
  return answers.cv?.[0]?.filename;
}

const named = (filename: string): string => `form-data; name="cv"; filename="${filename}"`;

const sent: Record<string, readonly [disposition: string, filename: string]> = {
  'quotes, as browsers escape them': [named('the %22final%22 one.txt'), 'the "final" one.txt'],
  'a quote at each end': [named('%22a%22'), '"a"'],
  'a line break, which no name keeps': [named('a%0D%0Ab.txt'), 'ab.txt'],
  'other percent signs, which browsers leave': [
    named('100%25 %20 %2F %C3%A9 50%.txt'),
    '100%25 %20 %2F %C3%A9 50%.txt',
  ],
  'lower case, which no browser sends': [named('a%0db.txt'), 'a%0db.txt'],
  'quotes behind a backslash': [named('the \\"final\\" one.txt'), 'the "final" one.txt'],
  'a quote behind a backslash, and %22 that was typed': [named('\\"a\\" %22.txt'), '"a" %22.txt'],
  'a quote and a semicolon behind a backslash': [named('a\\"; b=\\"c.txt'), 'a"; b="c.txt'],
  'a path of an old browser': [named('C:\\Users\\Ada\\cv.txt'), 'cv.txt'],
  'an escaped path': [named('a%22/../b%22.txt'), 'b".txt'],
  'quotes that nothing escapes': [named('the "final" one.txt'), 'the "final" one.txt'],
  'semicolons and equals signs': [named("a; filename=b; it's.txt"), "a; filename=b; it's.txt"],
  'letters beyond ASCII': [named('Zoë %22日本%22.txt'), 'Zoë "日本".txt'],
  'an extended name': ['form-data; name="cv"; filename*=UTF-8\'\'na%C3%AFve%20%22x%22.txt', 'naïve "x".txt'],
  'an extended name before the plain one': [
    'form-data; name="cv"; filename*=utf-8\'en\'na%C3%AFve.txt; filename="naive.txt"',
    'naïve.txt',
  ],
  'an extended name after the plain one': [
    'form-data; name="cv"; filename="naive.txt"; filename*=UTF-8\'\'na%C3%AFve.txt',
    'naïve.txt',
  ],
  'an extended name with %22 that was typed': ["form-data; name=cv; filename*=UTF-8''a%2522.txt", 'a%22.txt'],
  'an extended name in Latin-1': ["form-data; name=cv; filename*=ISO-8859-1''na%EFve.txt", 'naïve.txt'],
  'an extended name in an unknown charset': [
    'form-data; name=cv; filename="naive.txt"; filename*=klingon\'\'na%EFve.txt',
    'naive.txt',
  ],
  'no quotes at all': ['FORM-DATA ;NAME=cv ;FileName=cv.txt', 'cv.txt'],
  'an unknown parameter': ['form-data; x="\\"; name="cv"; size=1; filename="a.txt"', 'a.txt'],
};
for (const [what, [disposition, filename]] of Object.entries(sent)) {
  test(`a file name arrives as given: ${what}`, async () => {
    assert.equal(await nameOf(disposition), filename);
  });
}

test('the name of a field is decoded by the same rule as a file name', async () => {
  const part = (disposition: string): string =>
    `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nx\r\n`;
  for (const [name, expected] of [
    ['name="say %22hi%22%0D%0A"', 'say "hi"'],
    ['name="say \\"hi\\""', 'say "hi"'],
    ["name*=UTF-8''say%20%22hi%22", 'say "hi"'],
    ['name="100%25"', '100%25'],
    ['name="back\\"', 'back\\'],
  ] as const) {
    const { status, text } = await visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...asJson.headers },
      body: `${part(`${name}; filename="a.txt"`)}--b--\r\n`,
    });
    assert.equal(status, 422, text);
    const { errors } = JSON.parse(text) as { errors: { field: string }[] };
    assert.deepEqual(
      errors.map(({ field }) => field.trim()),
      [expected],
    );
  }
});
