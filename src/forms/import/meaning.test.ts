import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord } from '#ast/basics/json.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { type FormNode, walkElements } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { checkSettings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { isSlice } from '#test/cases.ts';
import { samples } from '#test/fixtures/foreign-forms.ts';
import { convertForm, type FormSource } from './convert.ts';

/* Every part of an imported document keeps its meaning, or the report names the part. */

/** All documents of these tests; the property test at the end reads them. */
const documents = Object.entries(samples) as [FormSource, object][];

function converted(source: FormSource, document: object) {
  documents.push([source, document]);
  const result = convertForm(document as Readonly<Record<string, unknown>>, source);
  const checked = validateStructure(result.structure);
  assert.ok(checked.ok, JSON.stringify(checked));
  const settings = checkSettings(result.settings, checked.form);
  assert.ok(settings.ok, JSON.stringify(settings));
  const elements = [...walkElements(checked.form)].map(({ element }) => element as FormNode);
  /** Returns whether an element is shown with these answers. */
  const shows = (id: string, answers: Readonly<Record<string, unknown>>): boolean => {
    const shown = evaluateVisibility(checked.form, answers, {
      reference: {},
      today: '2026-11-28',
      work: createWorkBudget(),
    });
    return shown.isShown(elements.find(({ attrs }) => attrs?.['id'] === id) as never);
  };
  const attrsOf = (id: string) => elements.find(({ attrs }) => attrs?.['id'] === id)?.attrs;
  const reported = result.report.flatMap(({ path, title, outcome, message }) =>
    outcome === 'mapped' ? [] : [{ path, title, outcome, message }],
  );
  const isReported = (path: string): boolean => reported.some((line) => line.path === path);
  return { ...result, form: checked.form, elements, shows, attrsOf, reported, isReported };
}

const survey = (...elements: object[]) => ({ pages: [{ elements }] });
const text = (name: string, visibleIf: string) => ({ type: 'text', name, visibleIf });

test('a SurveyJS boolean with custom values is compared with yes and no, and a comparison with any other value is reported', () => {
  const { shows, isReported } = converted(
    'surveyjs',
    survey(
      { type: 'boolean', name: 'member', valueTrue: 'no', valueFalse: 'yes' },
      { type: 'boolean', name: 'plain' },
      text('when_true', "{member} = 'no'"),
      text('when_false', "{member} = 'yes'"),
      text('when_any', "{member} anyof ['no']"),
      text('when_not', "{member} <> 'no'"),
      text('when_none', "{member} noneof ['no']"),
      text('when_plain', "{plain} = 'true'"),
      text('never', '{member} = true'),
      text('neither', "{plain} = 'maybe'"),
    ),
  );
  for (const [id, expected] of [
    ['when_true', [true, false]],
    ['when_any', [true, false]],
    ['when_false', [false, true]],
    ['when_not', [false, true]],
    ['when_none', [false, true]],
  ] as const)
    assert.deepEqual([shows(id, { member: true }), shows(id, { member: false })], expected, id);
  assert.deepEqual(
    [shows('when_plain', { plain: true }), shows('when_plain', { plain: false })],
    [true, false],
  );
  assert.ok(isReported('pages[0].elements[8].visibleIf'));
  assert.ok(isReported('pages[0].elements[9].visibleIf'));
  assert.ok(isReported('pages[0].elements[0].valueTrue'));
});

test('conditions on the "other" answer of a choice are true for a custom answer and false for an option', () => {
  const { shows, isReported } = converted(
    'surveyjs',
    survey(
      { type: 'radiogroup', name: 'colour', choices: ['Red', 'Blue'], showOtherItem: true },
      { type: 'checkbox', name: 'many', choices: ['Red', 'Blue'], showOtherItem: true },
      text('equal', "{colour} = 'other'"),
      text('unequal', "{colour} <> 'other'"),
      text('any', "{colour} anyof ['other', 'Red']"),
      text('several', "{many} contains 'other'"),
    ),
  );
  for (const [answer, expected] of [
    ['Teal', [true, false, true]],
    ['Red', [false, true, true]],
    ['Blue', [false, true, false]],
    [undefined, [false, true, false]],
  ] as const)
    assert.deepEqual(
      ['equal', 'unequal', 'any'].map((id) => shows(id, answer === undefined ? {} : { colour: answer })),
      expected,
      answer,
    );
  assert.ok(isReported('pages[0].elements[5].visibleIf'));
});

test('the option "Other" of Google Forms keeps its jump, and a jump to a missing page is reported', () => {
  const options = [
    { value: 'Yes' },
    { isOther: true, goToSectionId: 'p2' },
    { value: 'No', goToSectionId: 'gone' },
    { value: 'Again', goToAction: 'RESTART_FORM' },
  ];
  const item = (itemId: string, title: string, inside: object) => ({ itemId, title, ...inside });
  const choiceQuestion = { type: 'RADIO', options };
  const { form, isReported } = converted('google_forms', {
    info: { title: 'A form' },
    items: [
      item('1', 'Come', { questionItem: { question: { choiceQuestion } } }),
      item('p1', 'One', { pageBreakItem: {} }),
      item('p2', 'Two', { pageBreakItem: {} }),
    ],
  });
  assert.deepEqual(form.children[0]!.attrs!.jumps, [
    {
      when: {
        all: [
          { element: 'come', is: 'answered' },
          { not: { element: 'come', is: 'one_of', value: ['Yes', 'No', 'Again'] } },
        ],
      },
      to: 'two',
    },
  ]);
  const at = 'items[0].questionItem.question.choiceQuestion.options';
  assert.ok(isReported(`${at}[2].goToSectionId`));
  assert.ok(isReported(`${at}[3].goToAction`));
});

test('a number with a minimum and a step accepts the same numbers as in its source document', () => {
  const takes = (source: FormSource, document: object, id: string): number[] => {
    const {
      min = -20,
      max = 20,
      step = 1,
    } = converted(source, document).attrsOf(id) as Record<string, number>;
    return Array.from({ length: 161 }, (_, at) => at / 4 - 20).filter(
      (each) => each >= min && each <= max && Number.isInteger((each - min) / step),
    );
  };
  const field = { type: 'text', name: 'n', inputType: 'number', min: 1, max: 9, step: 3 };
  assert.deepEqual(takes('surveyjs', survey(field), 'n'), [1, 4, 7]);
  const validators = [{ type: 'numeric', minValue: 3 }];
  assert.deepEqual(takes('surveyjs', survey({ ...field, validators }), 'n'), [4, 7]);
});

test('Tally settings become form settings: address, language, limit, closing time and emails', () => {
  const tally = (settings: object) => converted('tally', { blocks: [], settings });
  const result = tally({
    redirectOnCompletion: { html: 'https://example.org/thanks', mentions: [] },
    language: 'de',
    submissionsLimit: 40,
    closeDate: '2026-12-24',
    closeTime: '18:30',
    closeTimezone: 'Europe/Berlin',
    closeMessageTitle: 'Closed',
    saveForLater: true,
    hasSelfEmailNotifications: true,
    selfEmailTo: { html: 'ada@example.org' },
    hasProgressBar: true,
  });
  assert.deepEqual(result.settings, {
    redirect_url: 'https://example.org/thanks',
    locale: 'de',
    max_submissions: 40,
    closes_at: '2026-12-24T17:30:00.000Z',
    closed_message: 'Closed',
    save_progress: true,
    notification_email: 'ada@example.org',
  });
  assert.deepEqual(
    result.reported.map(({ path }) => path),
    ['settings.hasProgressBar'],
  );
  const off = tally({ submissionsLimit: 40, hasSubmissionsLimit: false, closeDate: 'soon', language: 'tlh' });
  assert.deepEqual(off.settings, {});
  for (const name of ['submissionsLimit', 'closeDate', 'language'])
    assert.ok(off.isReported(`settings.${name}`), name);
});

test('a Tally condition on a missing option, or on the "other" option of a multiple choice, is reported', () => {
  const option = (uuid: string, payload: object) => ({
    uuid,
    type: 'MULTIPLE_CHOICE_OPTION',
    groupUuid: 'g',
    payload,
  });
  const rule = (uuid: string, value: string, target: string) => ({
    uuid,
    type: 'CONDITIONAL_LOGIC',
    payload: {
      conditionals: [{ payload: { field: { uuid: 'g' }, comparison: 'IS', value } }],
      actions: [{ type: 'SHOW_BLOCKS', payload: { showBlocks: [target] } }],
    },
  });
  const input = (uuid: string) => ({ uuid, type: 'INPUT_TEXT', groupUuid: uuid, payload: { name: uuid } });
  const { shows, isReported } = converted('tally', {
    blocks: [
      { uuid: 't', type: 'TITLE', groupUuid: 't', payload: { html: 'Colour' } },
      option('red', { text: 'Red' }),
      option('else', { text: 'Other', isOtherOption: true }),
      input('first'),
      input('second'),
      rule('r1', 'else', 'first'),
      rule('r2', 'gone', 'second'),
    ],
  });
  assert.deepEqual([shows('first', { colour: 'Teal' }), shows('first', { colour: 'Red' })], [true, false]);
  assert.ok(isReported('blocks[6]'));
});

test('Typeform: a jump can use a hidden field, notifications become settings, and the report names variables', () => {
  const { form, settings, reported } = converted('typeform', {
    hidden: ['src'],
    variables: { score: 0, price: 3 },
    fields: [
      { ref: 'mail', type: 'email', title: 'Email' },
      { ref: 'last', type: 'short_text', title: 'Last' },
      {
        ref: 'pick',
        type: 'picture_choice',
        title: 'Pick',
        properties: { allow_other_choice: true, choices: [{ label: 'A' }] },
      },
    ],
    logic: [
      {
        type: 'field',
        ref: 'mail',
        actions: [
          {
            action: 'jump',
            details: { to: { type: 'thankyou', value: 'x' } },
            condition: {
              op: 'is',
              vars: [
                { type: 'hidden', value: 'src' },
                { type: 'constant', value: 'ad' },
              ],
            },
          },
          {
            action: 'multiply',
            details: { target: { type: 'variable', value: 'price' }, value: { type: 'constant', value: 2 } },
            condition: { op: 'always', vars: [] },
          },
        ],
      },
    ],
    settings: {
      notifications: {
        self: { enabled: true, recipients: ['ada@example.org', 'ben@example.org'], subject: 'New' },
        respondent: { enabled: true, recipient: '{{field:mail}}', message: 'Thanks' },
      },
    },
  });
  assert.deepEqual(form.children[0]!.attrs!.jumps, [
    { when: { element: 'src', is: 'equals', value: 'ad' }, to: 'end' },
  ]);
  assert.deepEqual(
    [settings.notification_email, settings.receipt_email_element],
    ['ada@example.org,ben@example.org', 'mail'],
  );
  const messages = new Map(reported.map(({ path, message }) => [path, message]));
  assert.match(messages.get('variables.price')!, /calculation/);
  assert.match(messages.get('logic[0].actions[1]')!, /calculation/);
  for (const path of [
    'settings.notifications.self.subject',
    'settings.notifications.respondent.message',
    'fields[2].properties.allow_other_choice',
  ])
    assert.ok(messages.has(path), path);
});

test('SurveyJS expressions and calculated values become calculations, and the report names unsupported expressions by title', () => {
  const { attrsOf, reported } = converted('surveyjs', {
    ...survey(
      { type: 'text', name: 'price', inputType: 'number' },
      { type: 'boolean', name: 'member', valueTrue: 'y', valueFalse: 'n' },
      {
        type: 'expression',
        name: 'total',
        title: 'Total',
        expression: '{price} * iif({price} > 100, 0.9, 1)',
        displayStyle: 'currency',
        currency: 'EUR',
      },
      { type: 'expression', name: 'strange', title: 'A strange one', expression: 'myOwn({price})' },
      { type: 'expression', name: 'asked', title: 'By a value', expression: "iif({member} = 'y', 1, 2)" },
    ),
    calculatedValues: [{ name: 'twice', expression: '{total} + {price}', includeIntoResult: true }],
  });
  assert.equal(attrsOf('total')!['formula'], '{price}*if({price}>100,0.9,1)');
  assert.equal(attrsOf('total')!['prefix'], 'EUR ');
  assert.deepEqual([attrsOf('twice')!['formula'], attrsOf('twice')!['hidden']], ['{total}+{price}', true]);
  assert.deepEqual(
    reported.filter(({ outcome }) => outcome === 'left_out').map(({ path, title }) => [path, title]),
    [
      ['pages[0].elements[3]', 'A strange one'],
      ['pages[0].elements[4]', 'By a value'],
    ],
  );
});

/** A value in a document: the object or list that contains it, its key and its path. */
type Leaf = { holder: Record<string, unknown>; name: string; path: string };

function* leavesOf(value: unknown, path = ''): Generator<Leaf, void> {
  if (!isRecord(value) && !Array.isArray(value)) return;
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    if (typeof holder[name] === 'object') yield* leavesOf(holder[name], at);
    else yield { holder, name, path: at };
  }
}

/**
 * Paths of identifiers, of values that only repeat the position or type of a part, and of answers that only
 * show the type of a column.
 */
const identifying =
  /(^|\.)(pages\[\d+\]\.name|columns\[\d+\]\.values\[\d+\]|conditionals\[\d+\]\.(type|payload\.field\.(type|title))|logicalOperator|properties\.fields\[\d+\]\.type|id|uuid|ref|index|isFirst|isLast|groupUuid|groupType|itemId|questionId|\$schema|blockGroupUuid|questionType|documentTitle|formId)$/;

/**
 * Returns replacement values. There are two, because a limit may round to an equal value and a date may
 * ignore a suffix.
 */
const othersThan = (value: unknown): unknown[] =>
  typeof value === 'boolean'
    ? [!value]
    : typeof value === 'number'
      ? [value + 1_000, value - 1_000]
      : [`${String(value)}zq`, `zq${String(value)}`];

/** npm test changes one in four values of each document. */
test('changing any value of a document changes the form or the report', () => {
  const silent = documents.flatMap(([source, document]) => {
    const before = JSON.stringify(convertForm(document as Record<string, unknown>, source));
    return [...leavesOf(document)].flatMap(({ path }, at) => {
      if (identifying.test(path) || (isSlice && at % 4 !== 0)) return [];
      const changed = structuredClone(document) as Record<string, unknown>;
      const { holder, name } = [...leavesOf(changed)][at]!;
      const forms = othersThan(holder[name]).map((other) => {
        holder[name] = other;
        return convertForm(changed, source);
      });
      const isReported = forms
        .at(-1)!
        .report.some((line) => line.outcome !== 'mapped' && isWithin(path, line.path));
      return isReported || forms.some((each) => JSON.stringify(each) !== before) ? [] : [`${source} ${path}`];
    });
  });
  assert.deepEqual(silent, []);
});

const isWithin = (path: string, part: string): boolean =>
  path === part || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
