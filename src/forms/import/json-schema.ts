import { own } from '#ast/json.ts';
import type { Condition } from '#ast/logic/condition.ts';
import {
  add,
  addStep,
  firstInSteps,
  isFull,
  joined,
  line,
  node,
  optionsOf,
  prose,
  type Sketch,
  type Sketched,
} from './sketch.ts';
import type { Part } from './source.ts';

/**
 * A JSON Schema (2020-12) of an object as a form that asks for one: a question for each property, an object as a group, a
 * list of objects as rows. What `if` says of a property shows or requires others.
 */
export function readJsonSchema(root: Part, sketch: Sketch): void {
  const { attrs } = sketch.form;
  attrs['name'] = line(root.part('title')) ?? 'Imported form';
  const description = prose(root.part('description'));
  if (description) attrs['description'] = description;
  root.text('$schema');
  if ((root.text('type') ?? 'object') !== 'object') root.part('type').leaveOut('A form asks for an object.');
  const reading: Reading = { sketch, root, named: new Map() };
  readProperties(root, addStep(sketch), reading, 0);
  readRules(root, reading);
}

type Reading = { sketch: Sketch; root: Part; named: Map<string, Sketched> };

/** How deep objects may lie in each other: a form's groups do, and what refers to itself has no end. */
const deepest = 4;

function readProperties(schema: Part, parent: Sketched, reading: Reading, depth: number): void {
  const required = new Map(schema.list('required').map((part) => [part.text(), part] as const));
  const { sketch, named } = reading;
  for (const property of schema.part('properties').parts()) {
    const { name } = property;
    const found = resolve(property, reading.root);
    if (!found || isFull(sketch)) {
      property.leaveOut(
        isFull(sketch)
          ? 'The form is full.'
          : 'It refers to what is not in the document, or to what refers further.',
      );
      continue;
    }
    const id = sketch.newId(name, found.text('title') ?? name);
    const made = makeElement(property, found, reading, depth);
    if (typeof made === 'string') {
      property.leaveOut(made);
      continue;
    }
    const help = made.type === 'composite' ? undefined : prose(found.part('description'));
    made.attrs = {
      id,
      label: line(found.part('title')) ?? (name.slice(0, 200) || 'Untitled'),
      ...(help && { help_text: help }),
      ...(required.has(name) && made.type !== 'composite' && { required: true }),
      ...made.attrs,
    };
    if (id !== name) property.change(`Its id is "${id}".`);
    if (!named.has(name)) named.set(name, made);
    add(sketch, parent, made, property);
    const inside = made.type === 'composite' ? (rowsOf(found, reading.root) ?? found) : undefined;
    if (inside) readProperties(inside, made, reading, depth + 1);
  }
}

/** A schema that only refers to one of this document is that one. */
function resolve(part: Part, root: Part): Part | undefined {
  const reference = part.text('$ref');
  if (reference === undefined) return part;
  if (!/^#(\/[^/]{1,200}){1,8}$/.test(reference)) return undefined;
  const names = reference
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = names.reduce((at, name) => at.part(name), root);
  return found.isThere && found.text('$ref') === undefined ? found : undefined;
}

const rowsOf = (schema: Part, root: Part): Part | undefined => {
  const items = schema.part('items');
  const found = schema.text('type') === 'array' ? resolve(items, root) : undefined;
  return found?.text('type') === 'object' ? found : undefined;
};

/** The first of several types that is not null: what may be null may be left out. */
function typeOf(schema: Part): string | undefined {
  const types = schema.list('type').map((part) => part.text());
  return (
    schema.text('type') ??
    types.find((type) => type !== 'null') ??
    (schema.part('enum').isThere ? 'string' : undefined)
  );
}

/** @returns why there is no element for it, or the element. */
function makeElement(property: Part, schema: Part, { root }: Reading, depth: number): Sketched | string {
  const type = typeOf(schema);
  for (const part of schema.list('type'))
    if (part.text() !== type && part.text() !== 'null') part.leaveOut('A question has one type.');
  const options = choicesOf(schema);
  if (options && type !== 'string' && type !== undefined && type !== 'array')
    property.change('Its answers are texts.');
  if (options && type !== 'array') return node(options.length > 6 ? 'dropdown' : 'radio', { options });
  if (type === 'boolean') return node('yes_no');
  if (type === 'integer' || type === 'number') return numberOf(schema, type);
  if (type === 'string') return textOf(schema);
  if (type === 'object') return depth < deepest ? node('composite') : 'Groups lie in each other too deep.';
  if (type === 'array') return listOf(property, schema, root, depth);
  return 'It says no type that a form asks for.';
}

function choicesOf(schema: Part): ReturnType<typeof optionsOf> | undefined {
  const values = schema.list('enum').filter((part) => part.word() !== undefined);
  if (values.length > 0) return optionsOf(values, (part) => ({ id: undefined, label: line(part) }));
  const titled = ['oneOf', 'anyOf'].map((name) => schema.list(name)).find((list) => list.length > 0) ?? [];
  if (titled.length === 0 || !titled.every((part) => part.part('const').word() !== undefined))
    return undefined;
  return optionsOf(titled, (part) => {
    const id = line(part.part('const'));
    return { id, label: line(part.part('title')) ?? id };
  });
}

const larger = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

function numberOf(schema: Part, type: string): Sketched {
  const above = schema.number('exclusiveMinimum');
  const below = schema.number('exclusiveMaximum');
  const whole = type === 'integer' ? 1 : undefined;
  if (above !== undefined && !whole) schema.part('exclusiveMinimum').change('The limit itself is taken too.');
  if (below !== undefined && !whole) schema.part('exclusiveMaximum').change('The limit itself is taken too.');
  const step = schema.number('multipleOf') ?? whole;
  const [least, most] = [schema.number('minimum'), schema.number('maximum')];
  const min = larger(least, above === undefined ? undefined : above + (whole ?? 0));
  return node('number', {
    // Theirs are multiples of the step, ours lie in steps from the least number.
    min: min === undefined || step === undefined || step <= 0 ? min : firstInSteps(min, step),
    max: smaller(most, below === undefined ? undefined : below - (whole ?? 0)),
    step,
    placeholder: exampleOf(schema),
  });
}

const formats: Readonly<Record<string, string>> = {
  email: 'email',
  'idn-email': 'email',
  uri: 'url',
  iri: 'url',
  url: 'url',
  date: 'date',
  time: 'time',
  'date-time': 'datetime',
  phone: 'phone',
  tel: 'phone',
  'data-url': 'file_upload',
};

function textOf(schema: Part): Sketched {
  const format = schema.text('format');
  const longest = schema.number('maxLength');
  const usual = longest !== undefined && longest > 250 ? 'textarea' : 'text';
  const isFile = schema.text('contentEncoding') === 'base64';
  const known = format === undefined ? undefined : own(formats, format);
  if (format !== undefined && known === undefined) schema.part('format').change('Any text is taken.');
  const type = isFile ? 'file_upload' : (known ?? usual);
  const media = type === 'file_upload' ? schema.text('contentMediaType') : undefined;
  if (type === 'file_upload') return node(type, { max_files: 1, accept: media ? [media] : undefined });
  if (type === 'date' || type === 'time' || type === 'datetime') return node(type);
  const source = type === usual ? schema.text('pattern') : undefined;
  return node(type, {
    min_length: schema.number('minLength') || undefined,
    max_length: longest,
    pattern: source === undefined ? undefined : wholePattern(source),
    placeholder: exampleOf(schema),
  });
}

/** Theirs match any part of a text, unless they say where it begins and ends; ours the whole. */
function wholePattern(source: string): string {
  const [from, to] = [source.startsWith('^'), source.endsWith('$') && !source.endsWith('\\$')];
  const inner = source.slice(from ? 1 : 0, to ? -1 : undefined);
  return `${from ? '' : '.*'}${from && to ? inner : `(?:${inner})`}${to ? '' : '.*'}`;
}

const exampleOf = (schema: Part): string | undefined => {
  const [first] = schema.list('examples');
  return first === undefined ? undefined : line(first);
};

function listOf(property: Part, schema: Part, root: Part, depth: number): Sketched | string {
  const items = resolve(schema.part('items'), root);
  const options = items && choicesOf(items);
  if (options) {
    if (schema.flag('uniqueItems') === false)
      schema.part('uniqueItems').change('Each option is chosen once.');
    items.text('type');
    return node('multiple_choice', {
      options,
      min_choices: schema.number('minItems'),
      max_choices: schema.number('maxItems'),
    });
  }
  const type = items && typeOf(items);
  if (type === 'object')
    return depth < deepest ? node('composite', { repeatable: true }) : 'Groups lie in each other too deep.';
  if (items && type === 'string') {
    property.change('Each line is an item of the list.');
    return node('textarea');
  }
  return 'A list of such items is nothing that a form asks for.';
}

/** `if` with `then` and `else`, also several in `allOf`, and `dependentRequired`. */
function readRules(root: Part, reading: Reading): void {
  const { named } = reading;
  for (const rule of [root, ...root.list('allOf')]) {
    if (!rule.part('if').isThere) continue;
    const when = readIf(rule.part('if'), reading);
    if (!when) {
      for (const name of ['if', 'then', 'else'])
        rule.part(name).leaveOut('Its condition cannot be said here.');
      continue;
    }
    applyRule(rule.part('then'), when, reading);
    applyRule(rule.part('else'), { not: when }, reading);
  }
  for (const part of root.part('dependentRequired').parts()) {
    const cause = named.get(part.name);
    for (const name of root.part('dependentRequired').list(part.name)) {
      const effect = named.get(name.text() ?? '');
      if (cause && effect) effect.attrs['require_when'] = { element: cause.attrs['id'], is: 'answered' };
      else name.leaveOut('There is no such question.');
    }
  }
}

function readIf(part: Part, { named }: Reading): Condition | undefined {
  const asked = new Set(
    part
      .part('properties')
      .parts()
      .map(({ name }) => name),
  );
  // What is compared is answered as well; of another property it would be a condition of its own.
  for (const name of part.list('required'))
    if (!asked.has(name.text() ?? '')) name.leaveOut('The condition asks only for what it compares.');
  const conditions = part
    .part('properties')
    .parts()
    .map((property): Condition | undefined => {
      const made = named.get(property.name);
      const constant = property.part('const');
      const values = property.list('enum').flatMap((each) => each.number() ?? each.text() ?? []);
      const value = constant.flag() ?? constant.number() ?? constant.text();
      const element = String(made?.attrs['id']);
      if (!made) return undefined;
      if (value !== undefined) return { element, is: 'equals', value: fitting(value, made) };
      return values.length > 0 ? { element, is: 'one_of', value: values } : undefined;
    });
  const told = conditions.filter((each) => each !== undefined);
  return told.length === conditions.length ? joined('all', told) : undefined;
}

/** Options are texts, whatever they were. */
const fitting = (value: string | number | boolean, { type }: Sketched): string | number | boolean =>
  type === 'radio' || type === 'dropdown' ? String(value) : value;

/** What a rule requires is required then; what only it has is asked then. */
function applyRule(part: Part, when: Condition, reading: Reading): void {
  const before = new Set(reading.named.keys());
  const required = part.list('required');
  const step = reading.sketch.form.children.at(-1)!;
  const from = step.children.length;
  readProperties(part, step, reading, 0);
  for (const made of step.children.slice(from)) made.attrs['show_when'] = when;
  for (const name of required) {
    const text = name.text() ?? '';
    const made = reading.named.get(text);
    if (made && before.has(text) && made.type !== 'composite') made.attrs['require_when'] = when;
    else if (!made) name.leaveOut('There is no such question.');
  }
}
