import { endOfForm, type Operator, operators } from '#ast/logic/condition.ts';
import { type EditNode, textOf } from '../edit-node.ts';
import { type Group, type GroupMode, type Leaf, readCondition } from './condition-tree.ts';
import { sayMoment } from '../moment-way.ts';
import { indexOf } from './form-index.ts';
import { askedKind, sayOperator, takesValue } from './operators.ts';
import { type ConditionName, conditionNames, type Jump, jumpsOf } from './references.ts';

/** A piece of a sentence; what the author wrote is strong. */
export type Words = { readonly text: string; readonly isStrong?: true };
export type Sentence = readonly Words[];

/** A sentence as plain text, with quotes for what is strong. */
export const toPlain = (sentence: Sentence): string =>
  sentence.map(({ text, isStrong }) => (isStrong ? `“${text}”` : text)).join('');

const strong = (text: string): Words => ({ text, isStrong: true });
const plain = (text: string): Words => ({ text });

const beginnings: Readonly<Record<ConditionName, string>> = {
  show_when: 'Shown',
  hide_when: 'Hidden',
  require_when: 'Required',
};

/** Every rule of a node as a sentence: `Shown when Country is DE`, `Goes to the end when …` (`features` B7). */
export function sayLogic(root: EditNode, node: EditNode): readonly Sentence[] {
  const conditions = conditionNames.flatMap((name): Sentence[] => {
    const group = readCondition(node.attrs[name]);
    return group ? [[plain(beginnings[name]), ...sayWhen(root, group)]] : [];
  });
  return [...conditions, ...jumpsOf(node).map((jump) => sayJump(root, jump))];
}

/** `Goes to Thanks when Country is DE`; without a condition always. */
export function sayJump(root: EditNode, { to, when }: Jump): Sentence {
  const group = readCondition(when);
  return [plain('Goes to '), sayTarget(root, to), ...(group ? sayWhen(root, group) : [])];
}

/** One attribute of a node as plain text, when it is a rule that can be said; its form is `root`. */
export function sayRule(root: EditNode, node: EditNode, attribute: string): string | undefined {
  if (attribute === 'jumps')
    return jumpsOf(node)
      .map((jump) => toPlain(sayJump(root, jump)))
      .join('; ');
  const name = conditionNames.find((known) => known === attribute);
  const group = name && readCondition(node.attrs[name]);
  return group && toPlain(sayWhen(root, group)).trim();
}

/** The place that a jump leads to. */
export function sayTarget(root: EditNode, to: string): Words {
  if (to === endOfForm) return plain('the end');
  const placed = indexOf(root).steps.get(to);
  return strong(placed ? stepName(root, placed.node) : `${to} (missing)`);
}

/** A step for a person: its title, else its number. */
export const stepName = (root: EditNode, step: EditNode): string =>
  textOf(step, 'title') || `Step ${root.children.indexOf(step) + 1}`;

/** ` when A and B`; of a group that must not hold ` unless A or B`. */
export function sayWhen(root: EditNode, group: Group): Sentence {
  const isNegative = group.mode === 'none' || group.mode === 'not_all';
  return [plain(isNegative ? ' unless ' : ' when '), ...sayParts(root, group)];
}

const conjunctions: Readonly<Record<GroupMode, string>> = {
  all: ' and ',
  any: ' or ',
  none: ' or ',
  not_all: ' and ',
};

function sayParts(root: EditNode, { mode, parts }: Group): Sentence {
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [plain(conjunctions[mode])] : []),
    ...(part.kind === 'leaf' ? sayLeaf(root, part) : sayGroup(root, part)),
  ]);
}

function sayGroup(root: EditNode, group: Group): Sentence {
  const isNegative = group.mode === 'none' || group.mode === 'not_all';
  return [plain(isNegative ? 'not (' : '('), ...sayParts(root, group), plain(')')];
}

function sayLeaf(root: EditNode, { subject, is, value }: Leaf): Sentence {
  const asked = subject.of === 'element' ? indexOf(root).elements.get(subject.name)?.node : undefined;
  const kind = subject.of === 'reference' ? 'reference' : asked && askedKind(asked);
  const said = isOperator(is) ? sayOperator(is, kind) : is;
  return [
    ...saySubject(subject, asked),
    plain(takesValue(is) ? ` ${said} ` : ` ${said}`),
    ...(takesValue(is) ? sayValue(value, kind === 'moment') : []),
  ];
}

function saySubject({ of, name }: Leaf['subject'], asked: EditNode | undefined): Sentence {
  if (of === 'reference') return [plain('the reference '), strong(name || '…')];
  return [strong(asked ? textOf(asked, 'label') || name : `${name} (missing)`)];
}

function sayValue(value: unknown, isMoment: boolean): Sentence {
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => [
      ...(index > 0 ? [plain(index === value.length - 1 ? ' or ' : ', ')] : []),
      ...sayValue(entry, isMoment),
    ]);
  if (typeof value === 'boolean') return [strong(value ? 'Yes' : 'No')];
  if (isMoment && typeof value === 'string' && value !== '') return [strong(sayMoment(value))];
  const isSaid = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return [strong(isSaid ? String(value) : '…')];
}

/** Whether the comparison is one that the form language knows. */
export const isOperator = (is: string): is is Operator => operators.some((known) => known === is);
