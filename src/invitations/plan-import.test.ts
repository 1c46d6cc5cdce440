import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, formOf } from '#test/ast/forms.ts';
import {
  type InvitationImportPlan,
  type InvitationImportSource,
  planInvitationImport,
} from './plan-import.ts';
import { planImportInThread } from './start-import.ts';

const form = formOf(
  element('text', 'city', { label: 'Your city' }),
  element('multiple_choice', 'days', { options: ['Mon', 'Tue'] }),
  element('file_upload', 'photo'),
);

function plan(source: InvitationImportSource): InvitationImportPlan {
  const planned = planInvitationImport(source, form);
  if (typeof planned === 'string') assert.fail(planned);
  return planned;
}
const emailsOf = ({ drafts }: InvitationImportPlan): string[] => drafts.map(({ draft }) => draft.email);

test('a long text is parsed in a worker thread, with the same plan as on the main thread', async () => {
  const text = Array.from({ length: 2_000 }, (_, index) => `Person ${index} <p${index % 1_900}@example.org>`);
  const source = { kind: 'addresses', text: text.join('\n') } as const;
  const planned = await planImportInThread('a workspace', source, form);
  assert.deepEqual(planned, plan(source));
  assert.equal(plan(source).problems.length, 100);
});

test('pasted addresses are parsed one by one, with their names', () => {
  const planned = plan({
    kind: 'addresses',
    text: 'ada@example.org, "Hopper, Grace" <grace@example.org>;\n\nalan+turing@example.org',
  });
  assert.deepEqual(
    planned.drafts.map(({ line, draft }) => [line, draft.email, draft.name]),
    [
      [1, 'ada@example.org', ''],
      [1, 'grace@example.org', 'Hopper, Grace'],
      [3, 'alan+turing@example.org', ''],
    ],
  );
  assert.deepEqual(planned.problems, []);
});

test('the line of an invalid address is named, and so is the line of a duplicate in another spelling', () => {
  const planned = plan({
    kind: 'addresses',
    text: 'ada@example.org\nnot-an-address\nADA@example.org\na@b@c',
  });
  assert.deepEqual(emailsOf(planned), ['ada@example.org']);
  assert.deepEqual(planned.problems, [
    { line: 2, message: '"not-an-address" is not a valid email address.' },
    { line: 3, message: 'ADA@example.org is already on line 1.' },
    { line: 4, message: '"a@b@c" is not a valid email address.' },
  ]);
});

test('column mappings are suggested by heading: address, name, questions, and reference data for the rest', () => {
  const text = 'Customer,E-mail,Name,Your city,days\n17,ada@example.org,Ada,London,Mon; Tue\n';
  const planned = plan({ kind: 'csv', text });
  assert.deepEqual(planned.mapping, [
    { as: 'reference', name: 'Customer' },
    { as: 'email' },
    { as: 'name' },
    { as: 'prefill', name: 'city' },
    { as: 'prefill', name: 'days' },
  ]);
  assert.deepEqual(planned.drafts, [
    {
      line: 2,
      draft: {
        email: 'ada@example.org',
        name: 'Ada',
        reference: { Customer: '17' },
        prefill: { city: 'London', days: ['Mon', 'Tue'] },
      },
      key: 'ada@example.org',
    },
  ]);
});

test('the suggested mapping ignores columns with a reserved or repeated name', () => {
  const text =
    '_id,email,note,note,City,your city,name,Full name\n7,ada@example.org,a,b,London,Paris,Ada,Ada L.\n';
  const planned = plan({ kind: 'csv', text });
  assert.deepEqual(planned.mapping, [
    { as: 'ignore' },
    { as: 'email' },
    { as: 'reference', name: 'note' },
    { as: 'ignore' },
    { as: 'prefill', name: 'city' },
    { as: 'reference', name: 'your city' },
    { as: 'name' },
    { as: 'reference', name: 'Full name' },
  ]);
  assert.deepEqual(emailsOf(planned), ['ada@example.org']);
});

test('a file without headings is a list of addresses from its first line', () => {
  const planned = plan({ kind: 'csv', text: 'x;ada@example.org\ny;grace@example.org' });
  assert.deepEqual(planned.mapping, [{ as: 'ignore' }, { as: 'email' }]);
  assert.deepEqual(emailsOf(planned), ['ada@example.org', 'grace@example.org']);
});

test('a file without an address column shows its columns, so that a person can choose one', () => {
  const planned = plan({ kind: 'csv', text: 'a,b\n1,2' });
  assert.deepEqual(
    planned.columns.map(({ title, samples }) => [title, samples]),
    [
      ['a', ['1']],
      ['b', ['2']],
    ],
  );
  assert.deepEqual(planned.drafts, []);
});

test('formulas stay plain text, and header injection is not a valid address', () => {
  const text = 'email,note\nada@example.org,=1+1\n"eve@example.org\r\nBcc: all@example.org",x\n';
  const planned = plan({ kind: 'csv', text });
  assert.deepEqual(planned.drafts[0]!.draft.reference, { note: '=1+1' });
  assert.equal(planned.problems.length, 1);
  assert.match(planned.problems[0]!.message, /is not a valid email address/);
});

for (const [what, source, problem] of [
  [
    '100,000 lines',
    { kind: 'csv', text: 'a@example.org\n'.repeat(100_000) },
    /has 100,000 lines; the limit is 10,000/,
  ],
  ['nothing', { kind: 'csv', text: ' \n' }, /There are no addresses yet/],
  ['too much text', { kind: 'addresses', text: 'x'.repeat(5_000_001) }, /longer than 5,000,000/],
  [
    'a mapping without addresses',
    { kind: 'csv', text: 'a,b', mapping: [{ as: 'name' }, { as: 'ignore' }] },
    /Choose the column/,
  ],
  [
    'a mapping of another file',
    { kind: 'csv', text: 'a,b', mapping: [{ as: 'email' }] },
    /2 columns, but the mapping has 1/,
  ],
  [
    'two columns of addresses',
    { kind: 'csv', text: 'a,b', mapping: [{ as: 'email' }, { as: 'email' }] },
    /have the same use/,
  ],
  [
    'a question that is none',
    { kind: 'csv', text: 'a,b', mapping: [{ as: 'email' }, { as: 'prefill', name: 'x' }] },
    /no question "x"/,
  ],
  [
    'a question that takes files',
    { kind: 'csv', text: 'a,b', mapping: [{ as: 'email' }, { as: 'prefill', name: 'photo' }] },
    /no question "photo"/,
  ],
] as const satisfies readonly (readonly [string, InvitationImportSource, RegExp])[]) {
  test(`${what} is rejected as a whole, with a clear message`, () => {
    const planned = planInvitationImport(source, form);
    assert.match(typeof planned === 'string' ? planned : '', problem);
  });
}
