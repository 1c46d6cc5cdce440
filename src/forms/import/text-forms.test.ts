import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateStructure } from '#ast/validate.ts';
import { convertForm, documentOfText } from './convert.ts';
import { guessQuestion } from './guess-question.ts';

/* Plain text and CSV become a form, and every line that does not is in the report. */

function read(text: string, source?: 'plain_text' | 'csv') {
  const found = documentOfText({ text, source });
  if (typeof found === 'string') return { problem: found, steps: [], left: [], source: undefined };
  const { structure, report } = convertForm(found.document, found.source);
  const checked = validateStructure(structure);
  assert.ok(checked.ok, JSON.stringify(checked));
  const steps = checked.form.children.map(({ attrs, children }) => ({
    title: attrs?.title,
    questions: children.map((element) => ({
      type: element.type,
      ...(element.attrs as { label: string; options?: unknown; required?: boolean; other?: boolean }),
    })),
  }));
  const left = report.filter(({ outcome }) => outcome === 'left_out').map(({ path }) => path);
  return { steps, left, source: found.source, report, problem: undefined };
}
const typesOf = (text: string, source?: 'plain_text' | 'csv') =>
  read(text, source).steps.flatMap(({ questions }) => questions.map(({ type }) => type));
/** The labels of a text's questions with their types, and `*` if they are required. */
const outline = (text: string) =>
  read(text).steps.flatMap(({ questions }) =>
    questions.map(({ label, type, required }) => `${label}${required ? ' *' : ''}: ${type}`),
  );

test('a line is a question, "#" begins a step, "-" and "*" are options, and "*" at the end is required', () => {
  const { steps, left } = read(
    '# About you\r\nName *\nEmail:*\n\n# Your visit\nHow did you come?\n- Train\n* Car\n   • On foot\n\nWhat did you see? (select several)\n-Loom\n-Wheel\n',
  );
  assert.deepEqual(left, []);
  assert.deepEqual(
    steps.map(({ title, questions }) => [
      title,
      questions.map(({ label, type, required, options }) => [label, type, required, options]),
    ]),
    [
      [
        'About you',
        [
          ['Name', 'text', true, undefined],
          ['Email', 'email', true, undefined],
        ],
      ],
      [
        'Your visit',
        [
          ['How did you come?', 'radio', undefined, ['Train', 'Car', 'On foot']],
          ['What did you see?', 'multiple_choice', undefined, ['Loom', 'Wheel']],
        ],
      ],
    ],
  );
});

test('the words of a question decide its type', () => {
  const expected: Record<string, readonly string[]> = {
    email: ['Email', 'E-mail address', 'Your e-mail', 'Work Email *', 'Correo electrónico'],
    phone: ['Phone', 'Phone number', 'Mobile', 'Telefon', 'Cell'],
    date: ['Date', 'Date of birth', 'Birthday', 'When can you start?', 'Start date (required)'],
    time: ['What time suits you?', 'Arrival time', 'Start (time)'],
    datetime: ['Date and time', 'Meeting (date and time)'],
    number: [
      'How many guests?',
      'Age',
      'How old are you?',
      'Number of children',
      'Quantity',
      'Expected salary',
    ],
    url: ['Website', 'LinkedIn profile', 'Link to your work'],
    textarea: [
      'Message',
      'Comments',
      'Why do you want to work here?',
      'Address',
      'Notes (long text)',
      'Anything else?',
    ],
    file_upload: ['Upload your CV', 'Resume', 'Attachment', 'Logo (file)'],
    yes_no: ['Do you have a licence?', 'Are you over 18?', 'Would you come again?', 'Vegan (yes/no)'],
    rating: ['How would you rate us?', 'Rating', 'How satisfied are you?'],
    scale: ['How likely are you to recommend us?', 'Effort (1-10)'],
    signature: ['Signature'],
    text: [
      'Name',
      'Company',
      'Emailing list name?',
      'Presumed cause',
      'Job title',
      'Order ID',
      'Which one? (select one)',
    ],
  };
  for (const [type, lines] of Object.entries(expected))
    for (const line of lines) assert.deepEqual([line, ...typesOf(line)], [line, type]);
});

test('numbers, brackets and marks around a question are read, and other brackets stay', () => {
  assert.deepEqual(outline('1. Name*\n2) City (optional)\nQ3: Size (EU)\n**Team**\nPhone (required):\n'), [
    'Name *: text',
    'City: text',
    'Size (EU): text',
    'Team: text',
    'Phone *: phone',
  ]);
  assert.equal(guessQuestion('3 wishes').label, '3 wishes');
  assert.equal(guessQuestion('(email)').label, '(email)');
});

test('boxes are several choices, "Other (please specify)" is a free answer, and hints choose the list', () => {
  const { steps } = read(
    'Tools\n[ ] Loom\n[x] Wheel\nColour\n- Red\n- Other (please specify)\nCountry (dropdown)\n- France\n- Peru\nOrder (rank)\n- One\n- Two\nPick all that apply\n- A\n- B',
  );
  assert.deepEqual(
    steps[0]!.questions.map(({ type, options, other }) => [type, options, other]),
    [
      ['multiple_choice', ['Loom', 'Wheel'], undefined],
      ['radio', ['Red'], true],
      ['dropdown', ['France', 'Peru'], undefined],
      ['ranking', ['One', 'Two'], undefined],
      ['multiple_choice', ['A', 'B'], undefined],
    ],
  );
});

test('a list without questions above it is a list of questions', () => {
  assert.deepEqual(outline('# Contact\n- Name *\n- Email\n- Phone'), [
    'Name *: text',
    'Email: email',
    'Phone: phone',
  ]);
});

test('what is not understood is left out and named by its line', () => {
  const { left, report } = read('- Lonely option\nName\n???\nSize\n- S\n- S\n-\nTools (select several)\n');
  assert.deepEqual(left, ['lines[0]', 'lines[2]', 'lines[5]', 'lines[6]']);
  assert.ok(report!.some(({ path, outcome }) => path === 'lines[7]' && outcome === 'changed'));
  assert.equal(report!.find(({ path }) => path === 'lines[5]')!.title, '- S');
});

test('steps are separated by lines, and empty steps stay steps', () => {
  assert.deepEqual(
    read('Name\n---\nEmail\n## Last **one**\nAge').steps.map(({ title, questions }) => [
      title,
      questions.length,
    ]),
    [
      [undefined, 1],
      [undefined, 1],
      ['Last **one**', 1],
    ],
  );
});

test('a table is recognized, its headings are questions, and its values show what they contain', () => {
  const { source, steps, left } = read(
    'Name;Contact;Born;Guests;Member;Size;Remark\nAda;ada@example.org;1815-12-10;2;yes;S;"Long, with a\nline break"\nAlan;alan@example.org;1912-06-23;3;no;M;\nGrace;g@example.org;1906-12-09;1;yes;S;\nEdsger;e@example.org;1930-05-11;1;no;M;',
  );
  assert.equal(source, 'csv');
  assert.deepEqual(
    steps[0]!.questions.map(({ type }) => type),
    ['text', 'email', 'date', 'number', 'yes_no', 'radio', 'textarea'],
  );
  assert.deepEqual(steps[0]!.questions[5]!.options, ['S', 'M']);
  assert.deepEqual(left, ['rows']);
  assert.deepEqual(typesOf('Name,Email *,Phone'), ['text', 'email', 'phone']);
  assert.deepEqual(typesOf('Name,Email *,How many guests?'), ['text', 'email', 'number']);
  assert.deepEqual(typesOf('Name, Email, Phone'), ['text', 'email', 'phone']);
  assert.deepEqual(typesOf('When,Where\nMorning,Paris\nEvening,Rome'), ['text', 'text']);
});

test('sentences with commas, lists and headings are plain text', () => {
  for (const text of [
    'What is your name, and where do you live?',
    '# Step, one\nName, first',
    'Colour, please\n- Red, dark\n- Blue, light',
    'Name, first\nEmail',
    'What do you like, and why?\nAnything else, or not?',
    'What do you like, and why?\nYour name, please\nAnything else, or not?\n',
  ])
    assert.equal(read(text).source, 'plain_text', text);
  assert.deepEqual(typesOf('Name, first', 'csv'), ['text', 'text']);
  assert.equal(read('Name, Coming?\nAda, yes\nAlan, no').source, 'csv');
});

test('the report names a shortened option once', () => {
  const { report } = read(`Size\n- ${'S'.repeat(1_100)}\n- M`);
  const changes = report!.filter(({ path, outcome }) => path === 'lines[1]' && outcome === 'changed');
  assert.equal(changes.length, 1);
});

test('a text without content, an unclosed quote and a text that is too long get a reason', () => {
  assert.match(read(' \n ').problem!, /empty/);
  assert.match(read('Name,"Email', 'csv').problem!, /quotation mark/);
  assert.match(read('a\n'.repeat(30_000)).problem!, /20,000 lines/);
  assert.equal(read('\uFEFFName').steps[0]!.questions[0]!.label, 'Name');
});

test('a hostile line is read in time, and placeholders are text', () => {
  const started = performance.now();
  for (const line of ['(', ' ', '*', '[ ', '#', '1. ', 'a:'].map((part) => part.repeat(100_000)))
    read(`x${line}x\n${line}`);
  assert.ok(performance.now() - started < 2_000);
  const [step] = read('Hello {{name}}').steps;
  assert.doesNotMatch(step!.questions[0]!.label, /\{\{/);
});
