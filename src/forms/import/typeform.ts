import type { Condition } from '#ast/basics/condition.ts';
import { getProperty } from '#ast/basics/json.ts';
import { type Option, optionIdOf } from '#ast/basics/options.ts';
import {
  applyEndScreens,
  combineConditions,
  createComparisonCondition,
  type EndScreen,
  mapOperators,
  otherAnswerKey,
  type ReferencedElement,
} from './imported-conditions.ts';
import { newTexts, readLocale } from './imported-texts.ts';
import {
  addGroupDescription,
  createMappedElement,
  type ElementMapping,
  type ElementMappings,
  type FormImportContext,
  leftOutReasons,
  mapWord,
  setAttributes,
} from './importer-table.ts';
import {
  addJump,
  addNode,
  addScoreCalculation,
  addStep,
  createNode,
  type Sketch,
  type SketchNode,
} from './sketch.ts';
import type { SourcePart } from './source.ts';

type TypeformReading = FormImportContext & {
  /** Element ids by the names that Typeform texts use: `field:ref`, `hidden:name`. */
  readonly refs: Map<string, string>;
  /** The step of each field, by its ref. */
  readonly steps: Map<string, SketchNode>;
  readonly endings: Map<string, EndScreen>;
};

const common = { label: 'title', help_text: 'properties.description', required: 'validations.required' };

const selection = (
  type: ElementMapping['type'],
  attrs: ElementMapping['attrs'] = {},
): ElementMapping<TypeformReading> => ({
  type,
  attrs: { ...attrs, shuffle: 'properties.randomize' },
  lost: { 'properties.alphabetical_order': leftOutReasons.ordered },
  finish: readChoices,
});
const severalOr =
  (one: string) =>
  (field: SourcePart): string =>
    field.flag('properties.allow_multiple_selection') ? 'multiple_choice' : one;
const counts = { min_choices: 'validations.min_selection', max_choices: 'validations.max_selection' };
const other = { other: 'properties.allow_other_choice' };
const length = { max_length: 'validations.max_length' };
const group: ElementMapping = { type: 'composite' };
const scale: ElementMapping = {
  type: 'scale',
  attrs: {
    from: (field) => (field.flag('properties.start_at_one') ? 1 : 0),
    to: (field) => (field.number('properties.steps') ?? 11) - (field.flag('properties.start_at_one') ? 0 : 1),
    low_label: 'properties.labels.left',
    high_label: 'properties.labels.right',
  },
  lost: { 'properties.labels.center': 'A scale has labels at its two ends only.' },
};

const fields: ElementMappings<TypeformReading> = {
  short_text: { type: 'text', attrs: length },
  long_text: { type: 'textarea', attrs: length },
  email: { type: 'email' },
  phone_number: { type: 'phone' },
  website: { type: 'url' },
  number: { type: 'number', attrs: { min: 'validations.min_value', max: 'validations.max_value' } },
  date: { type: 'date' },
  yes_no: { type: 'yes_no' },
  file_upload: { type: 'file_upload' },
  dropdown: selection('dropdown', other),
  multiple_choice: selection(severalOr('radio'), {
    ...other,
    ...counts,
    options_layout: (field) => (field.flag('properties.vertical_alignment') === false ? 'row' : undefined),
  }),
  picture_choice: selection('picture_choice', { ...counts, multiple: 'properties.allow_multiple_selection' }),
  ranking: selection('ranking'),
  rating: {
    type: 'rating',
    attrs: {
      levels: 'properties.steps',
      symbol: mapWord('properties.shape', { star: undefined, heart: 'hearts' }, leftOutReasons.stars),
    },
  },
  opinion_scale: scale,
  nps: scale,
  legal: {
    type: 'consent',
    finish: (field, node, { texts }) => {
      const description = field.part('properties.description');
      delete node.attrs['help_text'];
      texts.set(node, 'statement', description.isThere ? description : field.part('title'));
    },
  },
  matrix: { type: 'matrix', finish: readMatrix },
  statement: {
    type: 'rich_text',
    finish: (field, node, { texts }) =>
      texts.set(node, 'text', [field.part('title'), field.part('properties.description')]),
  },
  group,
  inline_group: group,
  contact_info: group,
  address: group,
};

const isGroup = (field: SourcePart): boolean => getProperty(fields, field.text('type') ?? '') === group;

/** Returns every field. The fields of a group follow it. */
const fieldsOf = (part: SourcePart): SourcePart[] =>
  part
    .list('fields')
    .flatMap((field) => [field, ...(isGroup(field) ? fieldsOf(field.part('properties')) : [])]);

/** Returns the name that logic uses for a part. */
function refOf(part: SourcePart): string {
  part.skip('id');
  return part.text('ref') ?? part.text('id') ?? part.path;
}

function readChoices(field: SourcePart, node: SketchNode, { texts, named }: TypeformReading): void {
  const choices = new Map([['other', otherAnswerKey]]);
  const ids = texts.setOptions(node, 'options', field.list('properties.choices'), (part) => {
    part.part('attachment').leaveOut(leftOutReasons.elsewhere);
    return { label: part.part('label') };
  });
  for (const [part, id] of ids) choices.set(refOf(part), id);
  named.set(`field ${refOf(field)}`, { node, choices });
  if (node.type === 'picture_choice') field.change(leftOutReasons.pictures);
  if (node.attrs['other'] === undefined)
    field.leaveOutIf('properties.allow_other_choice', 'This question does not support an “Other” answer.');
}

/** Reads a matrix, in which each row repeats the columns. */
function readMatrix(field: SourcePart, node: SketchNode, { texts }: TypeformReading): void {
  const rows = field.list('properties.fields');
  const [first, ...others] = rows;
  const columns = first?.list('properties.choices') ?? [];
  const read = (name: string) => (part: SourcePart) => {
    part.skip('id', 'ref', 'type');
    return { label: part.part(name) };
  };
  texts.setOptions(node, 'options', columns, read('label'));
  texts.setOptions(node, 'rows', rows, read('title'));
  for (const row of others)
    for (const [at, each] of row.list('properties.choices').entries())
      if (each.text('label') !== columns[at]?.text('label'))
        each.leaveOut('All rows use the columns of the first row.');
  if (rows.some((row) => row.flag('properties.allow_multiple_selection'))) node.attrs['multiple'] = true;
}

function readField(field: SourcePart, parent: SketchNode, step: SketchNode, reading: TypeformReading): void {
  const { sketch, refs, named, steps } = reading;
  const ref = refOf(field);
  steps.set(ref, step);
  field.part('attachment').leaveOut(leftOutReasons.elsewhere);
  const node = createMappedElement(fields, field.text('type') ?? '', field, reading, { attrs: common });
  if (typeof node === 'string') return field.leaveOut(node);
  if (node.type !== 'rich_text') node.attrs['id'] = refs.get(`field:${ref}`);
  if (!named.has(`field ${ref}`) && 'id' in node.attrs) named.set(`field ${ref}`, { node });
  addNode(sketch, parent, node, field);
  if (node.type !== 'composite') return;
  addGroupDescription(field.part('properties.description'), node, reading);
  for (const inner of field.list('properties.fields')) readField(inner, node, step, reading);
}

const operators = mapOperators({
  equals: 'is equal on',
  not_equals: 'is_not not_equal not_on',
  contains: 'contains',
  not_contains: 'not_contains',
  greater_than: 'greater_than later_than',
  at_least: 'greater_equal_than later_than_or_on',
  less_than: 'lower_than earlier_than',
  at_most: 'lower_equal_than earlier_than_or_on',
});

/** @returns `true` for "always", and undefined for a condition that has no equivalent. */
function readCondition(part: SourcePart, reading: TypeformReading, depth = 0): Condition | true | undefined {
  const op = part.text('op') ?? '';
  if (op === 'always') return true;
  const vars = part.list('vars');
  if (op === 'and' || op === 'or') {
    const parts = depth > 4 ? [undefined] : vars.map((each) => readCondition(each, reading, depth + 1));
    return combineConditions(
      op === 'and' ? 'all' : 'any',
      parts.map((each) => (each === true ? undefined : each)),
    );
  }
  const [subject, object] = vars;
  const is = getProperty(operators, op);
  const named = reading.named.get(`${subject?.text('type') ?? ''} ${subject?.text('value') ?? ''}`);
  if (!object || !is || !named || !['constant', 'choice'].includes(object.text('type') ?? 'constant'))
    return undefined;
  const value = object.flag('value') ?? object.number('value') ?? object.text('value');
  return value === undefined ? undefined : createComparisonCondition(named, is, [value]);
}

/** Reads the jumps and the points of a field. */
function readRule(rule: SourcePart, ref: string, reading: TypeformReading): void {
  const step = reading.steps.get(ref);
  if (!step || (rule.text('type') ?? 'field') !== 'field') return rule.leaveOut(leftOutReasons.jump);
  for (const action of rule.list('actions')) {
    const when = readCondition(action.part('condition'), reading);
    const kind = action.text('action');
    if (kind === 'jump' && when !== undefined) readJump(action, step, when, reading);
    else if (!(kind === 'add' || kind === 'subtract') || !readPoints(action, reading))
      action.leaveOut(
        when === undefined
          ? leftOutReasons.condition
          : kind === 'jump'
            ? leftOutReasons.jump
            : leftOutReasons.variable,
      );
  }
}

function readJump(
  action: SourcePart,
  step: SketchNode,
  when: Condition | true,
  reading: TypeformReading,
): void {
  const to = action.part('details.to');
  const [kind, value = ''] = [to.text('type'), to.text('value')];
  const condition = when === true ? undefined : when;
  if (kind === 'thankyou') {
    addJump(reading.sketch, step, 'end', condition);
    const ending = reading.endings.get(value);
    if (ending && condition) ending.when.push(condition);
    else if (ending) ending.isUsual = true;
    action.map('jump to the end');
    if (!ending && value !== '' && !value.startsWith('default'))
      action.change('This ending does not exist. The jump leads to the default ending.');
    return;
  }
  const id =
    kind === 'field' ? addJump(reading.sketch, step, reading.steps.get(value), condition) : undefined;
  if (id === undefined) action.leaveOut(leftOutReasons.jump);
  else action.map(`jump to "${id}"`);
}

/** If an option increases a score, the increase becomes the points of the option. */
function readPoints(action: SourcePart, { named }: TypeformReading): boolean {
  const points = action.number('details.value.value');
  if (action.text('details.target.value') !== 'score' || points === undefined) return false;
  const [subject, object] = action.list('condition.vars');
  const field =
    subject?.text('type') === 'field' ? named.get(`field ${subject.text('value') ?? ''}`) : undefined;
  const choice = object?.text('type') === 'choice' ? (object.text('value') ?? '') : '';
  const id = field?.choices?.get(choice);
  const options = field?.node.attrs['options'] as Option[] | undefined;
  const at = options?.findIndex((option) => optionIdOf(option) === id) ?? -1;
  if (!options || id === undefined || at < 0 || action.text('condition.op') !== 'is') return false;
  options[at] = { id, label: id, points: action.text('action') === 'add' ? points : -points };
  action.map(`points of "${id}"`);
  return true;
}

/**
 * Reads a Typeform form as its Create API returns it (`GET /forms/{id}`): a list of fields, each with a
 * `ref`, and separate logic. The logic leads from a field to another field or to an ending.
 */
export function readTypeform(root: SourcePart, sketch: Sketch): void {
  const refs = new Map<string, string>();
  for (const part of fieldsOf(root))
    refs.set(`field:${refOf(part)}`, sketch.newId(refOf(part), part.text('title')));
  for (const part of root.list('hidden'))
    refs.set(`hidden:${part.text() ?? ''}`, sketch.newId(part.text(), part.text()));
  const piped = {
    pattern: /\{\{((?:field|hidden):[\w-]{1,80})\}\}/g,
    find: (name: string) => refs.get(name),
  };
  const texts = newTexts(sketch, { piped });
  const named = new Map<string, ReferencedElement>();
  const reading: TypeformReading = { sketch, texts, named, refs, steps: new Map(), endings: new Map() };
  readHead(root, reading);
  for (const part of root.list('thankyou_screens')) {
    const node = createNode('confirmation');
    texts.set(node, 'title', part.part('title'));
    texts.set(node, 'message', part.part('properties.description'));
    const address = part.text('properties.redirect_url');
    if (address) node.attrs['redirect_url'] = address;
    reading.endings.set(refOf(part), { part, node, when: [], isUsual: false });
  }
  const logic = new Map(root.list('logic').map((rule) => [rule.text('ref') ?? '', rule]));
  readSteps(root, reading, logic);
  readNotifications(root.part('settings.notifications'), reading);
  named.set('variable score', { node: createNode('calculation', { id: 'score' }) });
  for (const [ref, rule] of logic) readRule(rule, ref, reading);
  const variables = root.part('variables');
  const score = variables.number('score');
  if (!addScoreCalculation(sketch, variables, score) && score)
    variables.part('score').leaveOut('No option has points.');
  for (const variable of variables.parts())
    if (variable.name !== 'score') variable.leaveOut(leftOutReasons.variable);
  applyEndScreens(sketch, [...reading.endings.values()]);
}

function readHead(root: SourcePart, { sketch: { form, settings }, texts }: TypeformReading): void {
  setAttributes(form, root, { name: 'title' }, texts);
  const [welcome, ...others] = root.list('welcome_screens');
  if (welcome) {
    texts.set(form, 'description', [welcome.part('title'), welcome.part('properties.description')]);
    welcome.change('It becomes the description of the form.');
  }
  for (const each of others) each.leaveOut('A form can have only one description.');
  readLocale(root.part('settings.language'), settings);
  const redirect = root.text('settings.redirect_after_submit_url');
  if (redirect) settings['redirect_url'] = redirect;
  settings['layout'] = 'question';
}

/** Reads who gets an email about a submission: the listed people, and the visitor. */
function readNotifications(part: SourcePart, { sketch: { settings }, named, refs }: TypeformReading): void {
  const [mine, theirs] = [part.part('self'), part.part('respondent')];
  const addresses = [...mine.list('recipients'), mine.part('email')].flatMap(
    (each) => each.text()?.trim() ?? [],
  );
  if (mine.flag('enabled') === false) mine.leaveOut(leftOutReasons.off);
  else if (addresses.length > 0 && addresses.every((each) => each.includes('@') && !each.includes('{')))
    settings['notification_email'] = addresses.join(',');
  else mine.leaveOut('Its addresses come from answers. Set it under Settings.');
  const [, ref = ''] = /^\{\{field:([\w-]{1,80})\}\}$/.exec(theirs.text('recipient') ?? '') ?? [];
  if (theirs.flag('enabled') === false) theirs.leaveOut(leftOutReasons.off);
  else if (named.get(`field ${ref}`)?.node.type === 'email')
    settings['receipt_email_element'] = refs.get(`field:${ref}`);
  else theirs.leaveOut('Its recipient is not an email question.');
}

/** Groups fields into steps. A step begins where a jump leads, and after a field with logic. */
function readSteps(root: SourcePart, reading: TypeformReading, logic: ReadonlyMap<string, SourcePart>): void {
  const { sketch, texts, refs, named } = reading;
  const targets = new Set(
    [...logic.values()].flatMap((rule) =>
      rule.list('actions').map((action) => action.text('details.to.value')),
    ),
  );
  let step = addStep(sketch);
  for (const part of root.list('hidden')) {
    const node = createNode('hidden', { id: refs.get(`hidden:${part.text() ?? ''}`), label: 'Hidden' });
    texts.set(node, 'label', part);
    named.set(`hidden ${part.text() ?? ''}`, { node });
    addNode(sketch, step, node, part);
  }
  let isClosed = false;
  for (const field of root.list('fields')) {
    if (step.children.length > 0 && (isClosed || targets.has(refOf(field))))
      step = addStep(sketch, field, { id: sketch.newId(`step_${sketch.form.children.length + 1}`) });
    readField(field, step, step, reading);
    const inner = isGroup(field) ? fieldsOf(field.part('properties')) : [];
    isClosed = [field, ...inner].some((each) => logic.has(refOf(each)));
  }
}
