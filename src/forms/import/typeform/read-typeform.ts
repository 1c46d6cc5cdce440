import { isLocale } from '#ast/locales.ts';
import type { Confirmation } from '#ast/settings-by-condition.ts';
import { add, addStep, joined, line, node, prose, setTheme, type Sketch, tidy } from '../sketch.ts';
import type { Part } from '../source.ts';
import { addScore } from '../score.ts';
import { fieldsOf, hiddenRef, isGroup, readField, refOf } from './fields.ts';
import { readRule, scoreId } from './logic.ts';
import type { Reading } from './reading.ts';

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
