import {
  type AskedNode,
  askedKind,
  type FindAsked,
  type Group,
  type GroupMode,
  isOperator,
  type Leaf,
  readOptions,
  sayAsked,
  sayMoment,
  sayOperator,
  takesValue,
} from './condition-tree.ts';

/** A piece of a sentence. Text by the author is strong. */
export type Words = { readonly text: string; readonly isStrong?: true };
export type Sentence = readonly Words[];

/** Formats a sentence as plain text, with quotes around strong text. */
export const toPlain = (sentence: Sentence): string =>
  sentence.map(({ text, isStrong }) => (isStrong ? `“${text}”` : text)).join('');

export const strong = (text: string): Words => ({ text, isStrong: true });
export const plain = (text: string): Words => ({ text });

const isNegative = ({ mode }: Group): boolean => mode === 'none' || mode === 'not_all';

/** Formats ` when A and B`, or ` unless A or B` for a negated group. */
export const sayWhen = (group: Group, find: FindAsked): Sentence => [
  plain(isNegative(group) ? ' unless ' : ' when '),
  ...sayParts(group, find),
];

/** Formats `Only when A and B`, or `Unless A or B` for a negated group. */
export const sayOnlyWhen = (group: Group, find: FindAsked): Sentence => [
  plain(isNegative(group) ? 'Unless ' : 'Only when '),
  ...sayParts(group, find),
];

const conjunctions: Readonly<Record<GroupMode, string>> = {
  all: ' and ',
  any: ' or ',
  none: ' or ',
  not_all: ' and ',
};

function sayParts({ mode, parts }: Group, find: FindAsked): Sentence {
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [plain(conjunctions[mode])] : []),
    ...(part.kind === 'leaf' ? sayLeaf(part, find) : sayGroup(part, find)),
  ]);
}

const sayGroup = (group: Group, find: FindAsked): Sentence => [
  plain(isNegative(group) ? 'not (' : '('),
  ...sayParts(group, find),
  plain(')'),
];

function sayLeaf({ subject, is, value }: Leaf, find: FindAsked): Sentence {
  const named = subject.of === 'element' ? find(subject.name) : undefined;
  const asked = named && {
    type: named.type,
    attrs: named.attrs,
    ...(subject.row !== undefined && { row: subject.row }),
  };
  const kind = subject.of === 'reference' ? 'reference' : asked && askedKind(asked);
  const said = isOperator(is) ? sayOperator(is, kind) : is;
  return [
    ...saySubject(subject, asked),
    plain(takesValue(is) ? ` ${said} ` : ` ${said}`),
    ...(takesValue(is) ? sayValue(value, asked) : []),
  ];
}

function saySubject({ of, name }: Leaf['subject'], asked: AskedNode | undefined): Sentence {
  if (of === 'reference') return [plain('the URL parameter '), strong(name || '…')];
  return [strong(asked ? sayAsked(asked) : `${name} (missing)`)];
}

function sayValue(value: unknown, asked: AskedNode | undefined): Sentence {
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => [
      ...(index > 0 ? [plain(index === value.length - 1 ? ' or ' : ', ')] : []),
      ...sayValue(entry, asked),
    ]);
  if (typeof value === 'boolean') return [strong(value ? 'Yes' : 'No')];
  const option = asked && readOptions(asked.attrs['options']).find(({ id }) => id === value);
  if (option) return [strong(option.label)];
  if (asked && askedKind(asked) === 'moment' && typeof value === 'string' && value !== '')
    return [strong(sayMoment(value))];
  const isSaid = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return [strong(isSaid ? String(value) : '…')];
}
