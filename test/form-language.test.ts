import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import type { AttributeSpec } from '#ast/attributes/attributes.ts';
import { comparisonOperators } from '#ast/basics/condition.ts';
import { elementDefinitions, formAttributes, stepAttributes } from '#ast/form/elements.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { Form, FormNode } from '#ast/form/tree.ts';
import { parseFormula } from '#ast/logic/formula/parse.ts';
import { type FormulaProgram, formulaFunctionNames } from '#ast/logic/formula/program.ts';
import { settingNames, settingRow } from '#ast/settings-table.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { validateStructure } from '#ast/validate.ts';
import { context } from './ast/forms.ts';
import { arabic } from './gallery/arabic.ts';
import { galleryForms } from './gallery/forms.ts';

/*
 * docs/form-language.md describes the form language: its tables list everything that exists, and its examples
 * work.
 */

const file = new URL('../docs/form-language.md', import.meta.url);
const page = await readFile(file, 'utf8');

const blocks = [...page.matchAll(/^```json (\w+)\n([\s\S]*?)^```/gm)].map(([, kind, text]) => ({
  kind: kind!,
  value: JSON.parse(text!) as unknown,
}));
const ofKind = (kind: string): unknown[] =>
  blocks.filter((block) => block.kind === kind).map(({ value }) => value);

/** Answers to the form above them, with the results of formulas or the errors. */
type Example = { readonly answers: object; readonly results?: object; readonly errors?: readonly object[] };

/** Returns the rows of the table below a heading: the names in the first cell, and the second cell. */
function rowsBelow(heading: string): [names: string[], second: string][] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) => {
    const [first = '', second = ''] = line.slice(2).split(' | ');
    return [[...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name!), second];
  });
}

const types = Object.keys(elementDefinitions) as (keyof typeof elementDefinitions)[];
const inputs = types.filter((type) => isInputType(type));
const questions = inputs.filter((type) => !(inputRules[type] as InputRules).isUnasked);

test('the table of elements lists every element type', () => {
  assert.deepEqual(
    rowsBelow('Elements')
      .flatMap(([names]) => names)
      .sort(),
    [...types].sort(),
  );
});

test('the table of attributes lists every attribute with exactly the types that have it', () => {
  const documented = new Map<string, Set<string>>();
  for (const [names, second] of rowsBelow('Attributes')) {
    const owners = second
      .split(', ')
      .flatMap((owner) => (owner === 'inputs' ? inputs : owner === 'questions' ? questions : [owner]));
    for (const name of names) {
      documented.set(name, new Set([...(documented.get(name) ?? []), ...owners]));
    }
  }
  const known = new Map<string, Set<string>>();
  const all = { ...elementDefinitions, form: { attrs: formAttributes }, step: { attrs: stepAttributes } };
  for (const [owner, { attrs }] of Object.entries(all)) {
    for (const name of Object.keys(attrs)) known.set(name, new Set([...(known.get(name) ?? []), owner]));
  }
  const sorted = (map: Map<string, Set<string>>) =>
    [...map].map(([name, owners]) => [name, [...owners].sort()] as const).sort();
  assert.deepEqual(sorted(documented), sorted(known));
});

type Schema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
};

/** Describes what a setting accepts. */
function describeValue({ type = 'object', enum: values, format, minimum, maximum }: Schema): string {
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (type === 'integer') return `whole number from ${minimum}${maximum ? ` to ${maximum}` : ''}`;
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    array: 'list',
    'date-time': 'time',
    uri: 'address',
  };
  return names[format ?? type] ?? type;
}

/* Update the table with REWRITE=1 npm test -- test/form-language.test.ts. */
test('the table of settings matches the code', async () => {
  const rows = settingNames.map((name) => {
    const { help, note = '', schema, default: byDefault = (schema as Schema).default } = settingRow(name);
    const value = describeValue(schema);
    return `| \`${name}\` | ${value} | ${byDefault === undefined ? '' : `\`${byDefault}\``} | ${`${help} ${note}`.trim()} |`;
  });
  const tableIn = (text: string): string =>
    text
      .split('\n## Settings\n')[1]!
      .match(/^\| `.*\n/gm)!
      .join('');
  const written = `${rows.join('\n')}\n`;
  if (process.env['REWRITE'])
    await writeFile(
      file,
      page.replace(tableIn(page), () => written),
    );
  assert.equal(tableIn(await readFile(file, 'utf8')), written);
});

test('the table of conditions lists every operator', () => {
  assert.deepEqual(
    rowsBelow('Conditions')
      .flatMap(([names]) => names)
      .sort(),
    [...comparisonOperators].sort(),
  );
});

test('every example is a valid form', () => {
  const forms = ofKind('form');
  assert.ok(forms.length >= 2);
  for (const form of forms) assert.deepEqual(validateStructure(form), { ok: true, form });
});

test('the table of functions lists every function of formulas', () => {
  const section = page.split('\n## Formulas\n')[1]!.split('\n## ')[0]!;
  const names = formulaFunctionNames.filter((name) => !['negative'].includes(name));
  for (const name of [...names, 'points']) assert.match(section, new RegExp(`\`${RegExp.escape(name)}[(\`]`));
});

test('the example answers give the documented results and the documented errors', () => {
  let form: Form | undefined;
  const examples = blocks.flatMap(({ kind, value }) => {
    if (kind === 'form') form = value as Form;
    return kind === 'form' ? [] : [{ kind, value, form: form! }];
  });
  assert.deepEqual([...new Set(examples.map(({ kind }) => kind))].sort(), ['answers', 'refused', 'results']);
  for (const { kind, value, form } of examples) {
    const whole = kind === 'answers' ? { answers: value as object } : (value as Example);
    const result = checkAnswers(form, whole.answers, new Map(), context);
    if (kind === 'refused')
      assert.deepEqual(
        !result.ok && result.errors.map(({ field, message }) => ({ field, message })),
        whole.errors,
      );
    else assert.deepEqual(result, { ok: true, answers: { ...whole.answers, ...whole.results } });
  }
});

/** Returns the operators and functions of a formula. */
function callsIn(formula: string): string[] {
  const parsed = parseFormula(formula);
  assert.ok(parsed.ok, formula);
  const inProgram = (program: FormulaProgram): string[] =>
    program.flatMap((step) => {
      if (step.kind === 'gather') return [step.name, ...step.parts.flatMap(inProgram)];
      return step.kind === 'call' ? [step.name] : [];
    });
  return inProgram(parsed.program);
}

test('the gallery forms use every type, attribute, layout, operator and function, and have every text in Arabic', () => {
  const said = new Set<string>();
  const say = (text: string) => {
    said.add(text);
    return text;
  };
  const photo = '00000000-0000-7000-8000-000000000000';
  const forms = Object.values(galleryForms).map((make) => make(say, photo).structure);
  for (const form of forms) assert.deepEqual(validateStructure(form), { ok: true, form });
  const nodesIn = (node: FormNode): FormNode[] => [node, ...node.children!.flatMap(nodesIn)];
  const nodes = forms.flatMap(nodesIn);
  const have = new Set(nodes.map(({ type }) => type));
  assert.deepEqual(
    types.filter((type) => !have.has(type)),
    [],
  );
  const valuesOf = (name: string) => new Set(nodes.map(({ attrs }) => attrs![name]));
  const all = [
    ...Object.values(elementDefinitions).map(({ attrs }) => attrs),
    formAttributes,
    stepAttributes,
  ];
  for (const [name, spec] of all.flatMap((attrs) => Object.entries<AttributeSpec>(attrs))) {
    const values = valuesOf(name);
    assert.ok(
      [...values].some((value) => value !== undefined),
      name,
    );
    const shown = spec.kind === 'one-of' && name !== 'autocomplete' ? spec.values : [];
    for (const value of shown)
      assert.ok(values.has(value) || ('default' in spec && spec.default === value), `${name}: ${value}`);
  }
  const options = nodes.flatMap(({ attrs }) => (attrs!['options'] ?? []) as readonly (string | object)[]);
  const keys = new Set(options.flatMap((option) => (typeof option === 'string' ? [] : Object.keys(option))));
  assert.deepEqual([...keys].sort(), ['capacity', 'id', 'image', 'label', 'points', 'show_when']);
  const written = JSON.stringify(Object.values(galleryForms).map((make) => make(say, photo)));
  assert.deepEqual(
    comparisonOperators.filter((is) => !written.includes(`"is":"${is}"`)),
    [],
  );
  const worked = new Set(
    nodes.flatMap(({ attrs }) => (typeof attrs!['formula'] === 'string' ? callsIn(attrs!['formula']) : [])),
  );
  assert.deepEqual(
    formulaFunctionNames.filter((name) => !worked.has(name)),
    [],
  );
  assert.deepEqual(
    [...said].filter((text) => !Object.hasOwn(arabic, text)),
    [],
  );
});
