import {
  type FindTestedNode,
  formatOperator,
  formatTestedLabel,
  formatTimeLimit,
  type Group,
  type GroupMode,
  isOperator,
  type Leaf,
  type TestedNode,
  takesValue,
  testedKind,
  validOptionsOf,
} from './condition-tree.ts';

/** A part of a sentence. Text written by the author is strong. */
export type SentencePart = { readonly text: string; readonly isStrong?: true };
export type Sentence = readonly SentencePart[];

/** Formats a sentence as plain text, with quotes around strong text. */
export const toPlain = (sentence: Sentence): string =>
  sentence.map(({ text, isStrong }) => (isStrong ? `“${text}”` : text)).join('');

export const strong = (text: string): SentencePart => ({ text, isStrong: true });
export const plain = (text: string): SentencePart => ({ text });

const isNegative = ({ mode }: Group): boolean => mode === 'none' || mode === 'not_all';

/** Formats ` when A and B`, or ` unless A or B` for a negated group. */
export const describeWhen = (group: Group, find: FindTestedNode): Sentence => [
  plain(isNegative(group) ? ' unless ' : ' when '),
  ...describeParts(group, find),
];

/** Formats `Only when A and B`, or `Unless A or B` for a negated group. */
export const describeOnlyWhen = (group: Group, find: FindTestedNode): Sentence => [
  plain(isNegative(group) ? 'Unless ' : 'Only when '),
  ...describeParts(group, find),
];

const conjunctions: Readonly<Record<GroupMode, string>> = {
  all: ' and ',
  any: ' or ',
  none: ' or ',
  not_all: ' and ',
};

function describeParts({ mode, parts }: Group, find: FindTestedNode): Sentence {
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [plain(conjunctions[mode])] : []),
    ...(part.kind === 'leaf' ? describeComparison(part, find) : describeGroup(part, find)),
  ]);
}

const describeGroup = (group: Group, find: FindTestedNode): Sentence => [
  plain(isNegative(group) ? 'not (' : '('),
  ...describeParts(group, find),
  plain(')'),
];

function describeComparison({ subject, is, value }: Leaf, find: FindTestedNode): Sentence {
  const named = subject.of === 'element' ? find(subject.name) : undefined;
  const asked = named && {
    type: named.type,
    attrs: named.attrs,
    ...(subject.row !== undefined && { row: subject.row }),
  };
  const kind = subject.of === 'reference' ? 'reference' : asked && testedKind(asked);
  const said = isOperator(is) ? formatOperator(is, kind) : is;
  return [
    ...formatSubject(subject, asked),
    plain(takesValue(is) ? ` ${said} ` : ` ${said}`),
    ...(takesValue(is) ? formatValue(value, asked) : []),
  ];
}

function formatSubject({ of, name }: Leaf['subject'], asked: TestedNode | undefined): Sentence {
  if (of === 'reference') return [plain('the URL parameter '), strong(name || '…')];
  return [strong(asked ? formatTestedLabel(asked) : `${name} (missing)`)];
}

function formatValue(value: unknown, asked: TestedNode | undefined): Sentence {
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => [
      ...(index > 0 ? [plain(index === value.length - 1 ? ' or ' : ', ')] : []),
      ...formatValue(entry, asked),
    ]);
  if (typeof value === 'boolean') return [strong(value ? 'Yes' : 'No')];
  const option = asked && validOptionsOf(asked.attrs['options']).find(({ id }) => id === value);
  if (option) return [strong(option.label)];
  if (asked && testedKind(asked) === 'moment' && typeof value === 'string' && value !== '')
    return [strong(formatTimeLimit(value))];
  const isSaid = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return [strong(isSaid ? String(value) : '…')];
}
