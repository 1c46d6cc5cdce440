import { own } from '#ast/json.ts';
import type { Condition, Operator } from '#ast/logic/condition.ts';
import { addJump, joined, otherChosen, type Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';
import type { Reading } from './reading.ts';

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
export const scoreId = 'score';

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
export function readRule(rule: Part, ref: string, reading: Reading): void {
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
