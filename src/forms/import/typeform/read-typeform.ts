import { isLocale } from '#ast/locales.ts';
import type { Confirmation } from '#ast/settings-by-condition.ts';
import {
  add,
  addJump,
  addStep,
  joined,
  line,
  node,
  otherChosen,
  prose,
  setTheme,
  type Sketch,
  type Sketched,
  tidy,
} from '../sketch.ts';
import type { Part } from '../source.ts';
import { addScore } from '../score.ts';
import { fieldsOf, hiddenRef, isGroup, readField, refOf } from './fields.ts';
import type { Reading } from './reading.ts';
import { own } from '#ast/json.ts';
import type { Condition, Operator } from '#ast/logic/condition.ts';

/** Their operators, and ours. */
const operators: Readonly<Record<string, Operator>> = {
  is: 'equals',
  equal: 'equals',
  on: 'equals',
  is_not: 'not_equals',
  not_equal: 'not_equals',
  not_on: 'not_equals',
  contains: 'contains',
  not_contains: 'not_contains',
  lower_than: 'less_than',
  earlier_than: 'less_than',
  lower_equal_than: 'at_most',
  earlier_than_or_on: 'at_most',
  greater_than: 'greater_than',
  later_than: 'greater_than',
  greater_equal_than: 'at_least',
  later_than_or_on: 'at_least',
};

/** `always` is true; undefined is what cannot be said here. */
function readCondition(part: Part, reading: Reading, depth = 0): Condition | true | undefined {
  const op = part.text('op') ?? '';
  if (op === 'always') return true;
  const vars = part.list('vars');
  if (op === 'and' || op === 'or') {
    if (depth > 4) return undefined;
    const parts = vars.map((each) => readCondition(each, reading, depth + 1));
    const told = parts.filter((each) => each !== undefined && each !== true);
    return told.length === parts.length ? joined(op === 'and' ? 'all' : 'any', told) : undefined;
  }
  const [subject, object] = vars;
  const is = own(operators, op);
  if (!subject || !object || !is) return undefined;
  if (subject.text('type') === 'variable')
    return subject.text('value') === 'score' ? comparison(scoreId, is, object.number('value')) : undefined;
  const ref = subject.text('value') ?? '';
  if (subject.text('type') === 'hidden') {
    const hidden = reading.refs.get(`hidden ${ref}`);
    return hidden === undefined ? undefined : comparison(hidden, is, object.word('value'));
  }
  const element = reading.elements.get(ref);
  if (subject.text('type') !== 'field' || !element) return undefined;
  const isOther = object.text('type') === 'choice' && object.text('value') === 'other';
  if (isOther && (is === 'equals' || is === 'not_equals')) {
    const other = otherChosen(element);
    return other && (is === 'equals' ? other : { not: other });
  }
  return comparison(String(element.attrs['id']), ...valueOf(element, is, object, reading));
}

/** The score that options count for. */
const scoreId = 'score';

const comparison = (
  element: string,
  is: Operator,
  value: string | number | boolean | undefined,
): Condition | undefined => (value === undefined ? undefined : { element, is, value });

function valueOf(
  { type }: Sketched,
  is: Operator,
  object: Part,
  reading: Reading,
): [is: Operator, value: string | number | boolean | undefined] {
  const plain = object.flag('value') ?? object.number('value') ?? object.text('value');
  // Another answer or a variable is nothing to compare with.
  if (!['constant', 'choice'].includes(object.text('type') ?? 'constant')) return [is, undefined];
  if (object.text('type') !== 'choice') return [is, plain];
  const label = reading.choices.get(String(plain));
  if (type !== 'multiple_choice' && type !== 'picture_choice') return [is, label];
  return [is === 'not_equals' || is === 'not_contains' ? 'not_contains' : 'contains', label];
}

const jumpless = 'There is no such jump here. Set it anew in the builder.';

/** Where a field leads, and what it counts. */
function readRule(rule: Part, ref: string, reading: Reading): void {
  const step = reading.steps.get(ref);
  const type = rule.text('type') ?? 'field';
  if (!step || type !== 'field') return rule.leaveOut(jumpless);
  for (const action of rule.list('actions')) {
    const when = readCondition(action.part('condition'), reading);
    const kind = action.text('action');
    if (kind === 'jump' && when !== undefined) readJump(action, step, when, reading);
    else if (!(kind === 'add' || kind === 'subtract') || !readPoints(action, reading))
      action.leaveOut(
        when === undefined
          ? 'Its condition cannot be asked here.'
          : kind === 'jump'
            ? jumpless
            : 'It changes a variable. Add a calculation in the builder.',
      );
  }
}

function readJump(action: Part, step: Sketched, when: Condition | true, reading: Reading): void {
  const to = action.part('details').part('to');
  const [kind, value = ''] = [to.text('type'), to.text('value')];
  const jump = when === true ? {} : { when };
  const ending = reading.endings.get(value);
  const target = reading.steps.get(value);
  if (kind === 'thankyou') {
    addJump(step, { ...jump, to: 'end' });
    if (ending && when === true) ending.isUsual = true;
    else if (ending && when !== true) ending.when.push(when);
    action.map('jump to the end');
    if (!ending && value !== '' && !value.startsWith('default'))
      action.change('There is no such ending: it leads to the usual one.');
  } else if (kind === 'field' && target && target !== step) {
    target.attrs['id'] ??= reading.sketch.newId(`step_${reading.sketch.form.children.indexOf(target) + 1}`);
    addJump(step, { ...jump, to: String(target.attrs['id']) });
    action.map(`jump to "${String(target.attrs['id'])}"`);
  } else action.leaveOut(jumpless);
}

/** A score that grows by an option that is chosen is what the option counts. */
function readPoints(action: Part, reading: Reading): boolean {
  const details = action.part('details');
  const condition = action.part('condition');
  const points = details.part('value').number('value');
  if (details.part('target').text('value') !== 'score' || points === undefined) return false;
  const [subject, object] = condition.list('vars');
  const element = reading.elements.get(subject?.text('value') ?? '');
  const label =
    object?.text('type') === 'choice' ? reading.choices.get(object.text('value') ?? '') : undefined;
  if (!element || subject?.text('type') !== 'field' || label === undefined || condition.text('op') !== 'is')
    return false;
  const counted = reading.points.get(element) ?? new Map<string, number>();
  reading.points.set(element, counted.set(label, action.text('action') === 'add' ? points : -points));
  action.map(`points of "${label}"`);
  return true;
}

/**
 * A form of Typeform, as its Create API answers one (`GET /forms/{id}`): fields one after the other, each with a `ref`, and
 * logic apart from them, which leads from a field to another or to an ending.
 */
export function readTypeform(root: Part, sketch: Sketch): void {
  const refs = new Map<string, string>();
  for (const part of fieldsOf(root)) refs.set(refOf(part), sketch.newId(refOf(part), part.text('title')));
  for (const part of root.list('hidden')) refs.set(hiddenRef(part), sketch.newId(part.text(), part.text()));
  const shown = new Set(refs.values());
  const write = (text: string): string =>
    tidy(
      text.replace(/\{\{(field|hidden):([\w-]{1,80})\}\}/g, (whole, kind: string, ref: string) => {
        const id = refs.get(kind === 'field' ? ref : `hidden ${ref}`);
        return id === undefined ? whole : `{{${id}}}`;
      }),
      shown,
    );
  const reading: Reading = {
    sketch,
    refs,
    write,
    elements: new Map(),
    choices: new Map(),
    points: new Map(),
    steps: new Map(),
    endings: new Map(),
  };
  readHead(root, reading);
  readEndings(root, reading);
  const logic = new Map(root.list('logic').map((rule) => [rule.text('ref') ?? '', rule]));
  readSteps(root, reading, logic);
  readNotifications(root, reading);
  for (const [ref, rule] of logic) readRule(rule, ref, reading);
  finishEndings(root, reading);
}

function readHead(root: Part, { sketch, write }: Reading): void {
  const { form, settings } = sketch;
  form.attrs['name'] = line(root.part('title')) ?? 'Imported form';
  const [welcome, ...others] = root.list('welcome_screens');
  if (welcome) {
    const texts = [
      prose(welcome.part('title'), write),
      prose(welcome.part('properties').part('description'), write),
    ];
    const text = texts.filter((each) => each !== undefined).join('\n\n');
    if (text !== '') form.attrs['description'] = text;
    welcome.change('It is the description of the form, above the first question.');
  }
  for (const other of others) other.leaveOut('A form has one description.');
  const own = root.part('settings');
  const language = own.text('language');
  if (isLocale(language)) settings['locale'] = language;
  else if (language !== undefined)
    own.part('language').leaveOut('Pages do not speak it. They speak that of the browser.');
  const redirect = own.text('redirect_after_submit_url');
  if (redirect) settings['redirect_url'] = redirect;
  settings['layout'] = 'question';
}

/** Who hears of a submission: the people who were named, and the person who answered. */
function readNotifications(root: Part, { sketch, refs, elements }: Reading): void {
  const part = root.part('settings').part('notifications');
  const [mine, theirs] = [part.part('self'), part.part('respondent')];
  const off = 'It is turned off.';
  const told = [
    ...mine.list('recipients'),
    ...(mine.text('email') === undefined ? [] : [mine.part('email')]),
  ];
  const addresses = told.flatMap((each) => each.text()?.trim() ?? []);
  if (mine.flag('enabled') === false) mine.leaveOut(off);
  else if (
    addresses.length > 0 &&
    addresses.every((address) => address.includes('@') && !address.includes('{'))
  )
    sketch.settings['notification_email'] = addresses.join(',');
  else if (mine.isThere) mine.leaveOut('Its addresses are answers. Set it anew under Settings.');
  const [, ref] = /^\{\{field:([\w-]{1,80})\}\}$/.exec(theirs.text('recipient') ?? '') ?? [];
  const answered = ref === undefined ? undefined : elements.get(ref);
  if (theirs.flag('enabled') === false) theirs.leaveOut(off);
  else if (answered?.type === 'email') sketch.settings['receipt_email_element'] = refs.get(ref!);
  else if (theirs.isThere) theirs.leaveOut('It goes to no email question of the form.');
}

function readSteps(root: Part, reading: Reading, logic: ReadonlyMap<string, Part>): void {
  const { sketch } = reading;
  const targets = new Set(
    [...logic.values()].flatMap((rule) =>
      rule.list('actions').map((action) => action.part('details').part('to').text('value')),
    ),
  );
  let step = addStep(sketch);
  for (const part of root.list('hidden'))
    add(
      sketch,
      step,
      node('hidden', { id: reading.refs.get(hiddenRef(part)), label: line(part) ?? 'Hidden' }),
      part,
    );
  let isClosed = false;
  for (const field of root.list('fields')) {
    const ref = refOf(field);
    if (step.children.length > 0 && (isClosed || targets.has(ref)))
      step = addStep(sketch, { id: sketch.newId(`step_${sketch.form.children.length + 1}`) }, field);
    readField(field, step, step, reading);
    const inner = isGroup(field) ? fieldsOf(field.part('properties')) : [];
    isClosed = [ref, ...inner.map(refOf)].some((each) => logic.has(each));
  }
}

function readEndings(root: Part, { endings, write }: Reading): void {
  for (const part of root.list('thankyou_screens')) {
    const properties = part.part('properties');
    const title = line(part.part('title'), write);
    const message = prose(properties.part('description'), write);
    const redirect_url = properties.text('redirect_url');
    const show = {
      ...(title && { title }),
      ...(message && { message }),
      ...(redirect_url && { redirect_url }),
    };
    endings.set(refOf(part), { part, when: [], isUsual: false, show });
  }
}

/** The endings that conditions lead to are confirmations by condition, and the first of the others is that of all. */
function finishEndings(root: Part, { sketch, endings, points }: Reading): void {
  for (const [{ attrs }, counted] of points) attrs['options'] = withPoints(attrs['options'], counted);
  const variables = root.part('variables');
  const score = addScore(sketch, scoreId, variables, variables.number('score'));
  if (score === undefined && variables.number('score'))
    variables.part('score').leaveOut('No option counts anything.');
  for (const variable of variables.parts())
    if (variable.name !== 'score') variable.leaveOut('It is a variable. Add a calculation in the builder.');
  const all = [...endings.values()];
  const usual = all.find(({ isUsual }) => isUsual) ?? all.find(({ when }) => when.length === 0);
  const confirmations: Confirmation[] = [];
  for (const { part, show, when } of all) {
    const condition = joined('any', when);
    if (condition) confirmations.push({ when: condition, ...show });
    if (condition) part.map('confirmation by condition');
    else if (part === usual?.part) part.map('confirmation');
    else part.leaveOut('Nothing leads to it, and there is another one.');
  }
  const { settings } = sketch;
  if (confirmations.length > 0) settings['confirmations'] = confirmations;
  const { title, message, redirect_url } = usual?.show ?? {};
  if (title) setTheme(sketch, 'confirmation_title', title);
  if (message) settings['confirmation_message'] = message;
  if (redirect_url) settings['redirect_url'] ??= redirect_url;
}

const withPoints = (options: unknown, counted: ReadonlyMap<string, number>): unknown =>
  (options as string[]).map((label) =>
    counted.has(label) ? { id: label, label, points: counted.get(label) } : label,
  );
