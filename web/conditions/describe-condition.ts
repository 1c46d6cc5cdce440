import {
  type ComparisonLeaf,
  type ConditionGroup,
  type FindTestedNode,
  formatOperator,
  formatTestedLabel,
  formatTimeLimit,
  type GroupMode,
  isOperator,
  type TestedNode,
  takesValue,
  testedKind,
  validOptionsOf,
} from './condition-tree.ts';

export type SentencePart = { readonly text: string; readonly isStrong?: true };
export type Sentence = readonly SentencePart[];

/** Formats a sentence as plain text, with quotes around strong text. */
export const formatSentence = (sentence: Sentence): string =>
  sentence.map(({ text, isStrong }) => (isStrong ? `“${text}”` : text)).join('');

export const strongPart = (text: string): SentencePart => ({ text, isStrong: true });
export const plainPart = (text: string): SentencePart => ({ text });

const isNegative = ({ mode }: ConditionGroup): boolean => mode === 'none' || mode === 'not_all';

/** Formats ` if A and B`, or ` unless A or B` for a negated group. */
export const describeWhen = (group: ConditionGroup, find: FindTestedNode): Sentence => [
  plainPart(isNegative(group) ? ' unless ' : ' if '),
  ...describeParts(group, find),
];

/** Formats `Only if A and B`, or `Unless A or B` for a negated group. */
export const describeOnlyWhen = (group: ConditionGroup, find: FindTestedNode): Sentence => [
  plainPart(isNegative(group) ? 'Unless ' : 'Only if '),
  ...describeParts(group, find),
];

const conjunctions: Readonly<Record<GroupMode, string>> = {
  all: ' and ',
  any: ' or ',
  none: ' or ',
  not_all: ' and ',
};

function describeParts({ mode, parts }: ConditionGroup, find: FindTestedNode): Sentence {
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [plainPart(conjunctions[mode])] : []),
    ...(part.kind === 'leaf' ? describeComparison(part, find) : describeGroup(part, find)),
  ]);
}

const describeGroup = (group: ConditionGroup, find: FindTestedNode): Sentence => [
  plainPart(isNegative(group) ? 'not (' : '('),
  ...describeParts(group, find),
  plainPart(')'),
];

function describeComparison({ subject, is, value, other }: ComparisonLeaf, find: FindTestedNode): Sentence {
  const found = subject.of === 'element' ? find(subject.name) : undefined;
  const tested = found && {
    type: found.type,
    attrs: found.attrs,
    ...(subject.row !== undefined && { row: subject.row }),
  };
  const kind = subject.of === 'reference' ? 'reference' : tested && testedKind(tested);
  const operator = isOperator(is) ? formatOperator(is, kind) : is;
  return [
    ...formatSubject(subject, tested),
    plainPart(takesValue(is) ? ` ${operator} ` : ` ${operator}`),
    ...(other !== undefined
      ? formatSubject({ of: 'element', name: other }, find(other))
      : takesValue(is)
        ? formatValue(value, tested)
        : []),
  ];
}

function formatSubject({ of, name }: ComparisonLeaf['subject'], tested: TestedNode | undefined): Sentence {
  if (of === 'reference') return [plainPart('the URL parameter '), strongPart(name || '…')];
  return [strongPart(tested ? formatTestedLabel(tested) : `${name} (missing)`)];
}

function formatValue(value: unknown, tested: TestedNode | undefined): Sentence {
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) => [
      ...(index > 0 ? [plainPart(index === value.length - 1 ? ' or ' : ', ')] : []),
      ...formatValue(entry, tested),
    ]);
  if (typeof value === 'boolean') return [strongPart(value ? 'Yes' : 'No')];
  const option = tested && validOptionsOf(tested.attrs['options']).find(({ id }) => id === value);
  if (option) return [strongPart(option.label)];
  if (tested && testedKind(tested) === 'moment' && typeof value === 'string' && value !== '')
    return [strongPart(formatTimeLimit(value))];
  const isFilled = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return [strongPart(isFilled ? String(value) : '…')];
}
