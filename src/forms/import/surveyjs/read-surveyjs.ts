import { comparisonsOf, type Condition } from '#ast/logic/condition.ts';
import { fillPiped } from '#ast/piping.ts';
import type { Confirmation } from '#ast/settings-by-condition.ts';
import { lineOfHtml, textOfHtml } from '../html.ts';
import { speaker } from './languages.ts';
import { add, addJump, addStep, node, type Sketch, type Sketched, tidy } from '../sketch.ts';
import type { Part } from '../source.ts';
import { readExpression } from './expression.ts';
import { makeElement } from './elements.ts';
import { readFormula } from './formula.ts';
import type { Named, SurveyReading } from './reading.ts';

/** A survey as the creator of SurveyJS writes it: pages of elements, with conditions as expressions beside each. */
export function readSurveyJs(root: Part, sketch: Sketch): void {
  const [ids, shown] = [new Map<string, string>(), new Set<string>()];
  const write = (text: string, isLong: boolean): string =>
    tidy(
      (isLong ? textOfHtml(text) : lineOfHtml(text)).replace(/\{([^{}]{1,80})\}/g, (whole, name: string) => {
        const id = ids.get(name);
        if (id !== undefined) shown.add(id);
        return id === undefined ? whole : `{{${id}}}`;
      }),
      shown,
    );
  const reading: SurveyReading = { sketch, named: new Map(), later: [], ...speaker(sketch, root, write) };
  const pages = root.list('pages');
  const steps = new Map<string, Sketched>();
  const open = (page: Part): void => {
    const name = page.text('name');
    const step = addStep(sketch, {}, page);
    if (name !== undefined) steps.set(name, step);
    reading.tell(step, 'title', page.part('title'));
    reading.tell(step, 'description', page.part('description'));
    page.map('step');
    readLogic(page, step, reading);
    for (const name of ['elements', 'questions'])
      for (const element of page.list(name)) readElement(element, step, reading, ids);
  };
  if (pages.length === 0) open(root);
  else for (const page of pages) open(page);
  readCalculatedValues(root, reading);
  for (const each of reading.later) each();
  readHead(root, reading);
  readTriggers(root, reading, steps);
  reading.finish();
}

function readElement(
  part: Part,
  parent: Sketched,
  reading: SurveyReading,
  ids: Map<string, string>,
  row = '',
): void {
  const { sketch, named } = reading;
  if (part.text('type') === 'matrixdropdown') return readCells(part, parent, reading, ids);
  const name = part.text('name') ?? '';
  const title = part.part('title');
  const id = sketch.newId(name, name || title.text());
  const made = makeElement(part, id, reading);
  if (typeof made === 'string') return part.leaveOut(made);
  // One name may stand for several in different rows: the first is meant outside of them.
  if (!ids.has(name)) ids.set(name, id);
  const about = {
    element: id,
    made,
    yes: part.word('valueTrue') ?? 'true',
    no: part.word('valueFalse') ?? 'false',
  };
  if (!named.has(name)) named.set(name, about);
  if (row !== '') named.set(`${row}${name}`, about);
  add(sketch, parent, made, part);
  readLogic(part, made, reading);
  const isRows = made.attrs['repeatable'] === true;
  for (const list of ['elements', 'templateElements', 'columns', 'items'])
    if (made.type === 'composite')
      for (const child of part.list(list))
        readElement(
          child,
          made,
          list === 'columns' ? { ...reading, matrix: part } : reading,
          ids,
          isRows ? rowOf(list) : row,
        );
}

/** Of a matrix whose cells are questions each row is a group of them, behind a heading. */
function readCells(part: Part, parent: Sketched, reading: SurveyReading, ids: Map<string, string>): void {
  const { sketch, named, later, tell } = reading;
  const name = part.text('name') ?? '';
  const heading = node('heading', { id: sketch.newId(undefined, name), label: name || 'Untitled' });
  tell(heading, 'label', part.part('title'));
  add(sketch, parent, heading, part);
  readLogic(part, heading, reading);
  part.change('Each of its rows is a group of questions.');
  const columns = part.list('columns');
  for (const row of part.list('rows')) {
    const value = row.word() ?? row.word('value') ?? '';
    const group = node('composite', {
      id: sketch.newId(undefined, `${name} ${value}`),
      label: value || 'Untitled',
    });
    if (row.word() === undefined) tell(group, 'label', row.part('text'));
    add(sketch, parent, group, row);
    readLogic(part, group, reading);
    // Conditions are read behind all questions: those of this row speak of its own.
    const cells = new Map<string, Named>();
    later.push(() => cells.forEach((about, cell) => named.set(cell, about)));
    for (const column of columns) {
      readElement(column, group, { ...reading, matrix: part }, ids, 'row.');
      const cell = `row.${column.text('name') ?? ''}`;
      if (named.has(cell)) cells.set(cell, named.get(cell)!);
    }
  }
}

/** How conditions within a row speak of it. */
const rowOf = (list: string): string => (list === 'columns' ? 'row.' : 'panel.');

const logic = { visibleIf: 'show_when', requiredIf: 'require_when' } as const;

function readLogic(part: Part, made: Sketched, reading: SurveyReading): void {
  for (const [name, attribute] of Object.entries(logic)) {
    const expression = part.part(name);
    if (!expression.isThere) continue;
    reading.later.push(() => {
      const condition = conditionOf(expression, reading);
      if (condition) made.attrs[attribute] = condition;
    });
  }
}

function conditionOf(part: Part, { named }: SurveyReading): Condition | undefined {
  const text = part.text();
  const condition = text === undefined ? undefined : readExpression(text, (name) => named.get(name));
  if (text !== undefined && !condition) part.leaveOut('This expression cannot be said as a condition here.');
  return condition;
}

function readHead(root: Part, reading: SurveyReading): void {
  const { sketch, tell, tellSetting } = reading;
  const { form, settings } = sketch;
  form.attrs['name'] = 'Imported form';
  if (root.list('pages').length > 0) {
    tell(form, 'name', root.part('title'));
    tell(form, 'description', root.part('description'));
  } else {
    // Of a survey without pages the heading of its one step is the name of the form.
    const [step] = form.children;
    form.attrs['name'] = step?.attrs['title'] ?? 'Imported form';
    delete step?.attrs['title'];
  }
  // What may be shown of answers, a name may not.
  form.attrs['name'] = fillPiped(String(form.attrs['name']), () => '…');
  tellSetting('confirmation_message', root.part('completedHtml'));
  tellSetting('theme.submit_label', root.part('completeText'));
  const address = root.text('navigateToUrl');
  if (address) settings['redirect_url'] = address;
  const mode = root.text('questionsOnPageMode');
  if (mode === 'questionPerPage' || mode === 'inputPerPage') settings['layout'] = 'question';
  else if (mode === 'singlePage') root.part('questionsOnPageMode').leaveOut('Pages are steps.');
  const preview = root.text('showPreviewBeforeComplete');
  if (root.flag('showPreviewBeforeComplete') || (preview !== undefined && preview !== 'noPreview'))
    settings['review_step'] = true;
  if (preview !== undefined && !['noPreview', 'showAllQuestions'].includes(preview))
    root.part('showPreviewBeforeComplete').change('All questions are listed before they are sent.');
  const confirmations = root.list('completedHtmlOnCondition').flatMap((part): Confirmation[] => {
    const when = conditionOf(part.part('expression'), reading);
    const message = reading.say(part.part('html'));
    return when && message ? [{ when, message }] : [];
  });
  if (confirmations.length > 0) settings['confirmations'] = confirmations;
}

/** Of what happens when an expression becomes true, two things are jumps: to skip to a question, and to end. */
function readTriggers(root: Part, reading: SurveyReading, steps: ReadonlyMap<string, Sketched>): void {
  const { sketch, named } = reading;
  const places = new Map(
    sketch.form.children.flatMap((step) => idsIn(step).map((id) => [id, step] as const)),
  );
  for (const trigger of root.list('triggers')) {
    const type = trigger.text('type');
    const goto = trigger.text('gotoName') ?? '';
    const target = steps.get(goto) ?? places.get(named.get(goto)?.element ?? '');
    const condition = conditionOf(trigger.part('expression'), reading);
    const from = condition && lastNamed(condition, places, sketch.form.children);
    if (!condition || !from || !(type === 'complete' || (type === 'skip' && target))) {
      trigger.leaveOut('There is no such jump here. Set it anew in the builder.');
      continue;
    }
    if (target) target.attrs['id'] ??= sketch.newId(`step_${sketch.form.children.indexOf(target) + 1}`);
    const to = type === 'complete' ? 'end' : String(target!.attrs['id']);
    addJump(from, { when: condition, to });
    trigger.map(`jump to "${to}"`);
    if (type === 'skip' && !steps.has(goto)) trigger.change('It leads to the step of that question.');
  }
}

/** A value that a survey works out, and shows nowhere, is a hidden calculation behind all questions. */
function readCalculatedValues(root: Part, { sketch, named }: SurveyReading): void {
  const last = sketch.form.children.at(-1);
  for (const part of root.list('calculatedValues')) {
    const name = part.text('name') ?? '';
    const formula = readFormula(part.text('expression') ?? '', (each) => named.get(each));
    if (formula === undefined || !last) {
      part.leaveOut('This expression cannot be worked out here.');
      continue;
    }
    if (part.flag('includeIntoResult') !== true) part.change('Its result is kept with the answers.');
    const id = sketch.newId(name, name);
    const made = node('calculation', { id, label: name || 'Calculation', formula, hidden: true });
    add(sketch, last, made, part);
    if (!named.has(name)) named.set(name, { element: id, made, yes: 'true', no: 'false' });
  }
}

const idsIn = ({ attrs, children }: Sketched): string[] => [
  ...(typeof attrs['id'] === 'string' ? [attrs['id']] : []),
  ...children.flatMap(idsIn),
];

/** The step that asks the last of what a condition names. */
function lastNamed(
  condition: Condition,
  places: ReadonlyMap<string, Sketched>,
  steps: readonly Sketched[],
): Sketched | undefined {
  const named = [...comparisonsOf(condition)].flatMap((each) =>
    'element' in each ? (places.get(each.element) ?? []) : [],
  );
  return steps.findLast((step) => named.includes(step));
}
