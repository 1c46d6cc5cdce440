import type { ComparisonOperator, Condition } from '#ast/basics/condition.ts';
import { getProperty } from '#ast/basics/json.ts';
import {
  combineConditions,
  createComparisonCondition,
  type EndScreen,
  mapOperators,
  negateCondition,
  type PlainValue,
  type ReferencedElement,
} from './imported-conditions.ts';
import { type FormImportContext, leftOutReasons } from './importer-table.ts';
import { addJump, attributeSpecsOf, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

export type FormbricksImportContext = FormImportContext & {
  /** Element ids by Formbricks ids, for texts. */
  readonly ids: Map<string, string>;
  /** The steps of blocks and questions, by id. */
  readonly steps: Map<string, SketchNode>;
  readonly endings: Map<string, EndScreen>;
  readonly variables: Map<string, { part: SourcePart; node: SketchNode; step: SketchNode | undefined }>;
};

/** Returns the name that conditions use for an element. */
export const conditionNameOf = (part: SourcePart): string => `element ${part.text('id') ?? ''}`;

/** Returns file extensions in the format of the attribute `accept`. */
export const fileExtensionsOf = (parts: readonly SourcePart[]): string[] | undefined => {
  const endings = parts.flatMap((part) => part.text()?.replace(/^\.?/, '.').toLowerCase() ?? []);
  return endings.length > 0 ? endings : undefined;
};

/** The attribute for each Formbricks rule, and how to read its value from the parameters. */
const rules: Readonly<Record<string, readonly [attribute: string, read: (params: SourcePart) => unknown]>> = {
  minLength: ['min_length', (params) => params.number('min')],
  maxLength: ['max_length', (params) => params.number('max')],
  isLongerThan: ['min_length', (params) => plusOne(params.number('min'), 1)],
  isShorterThan: ['max_length', (params) => plusOne(params.number('max'), -1)],
  pattern: ['pattern', (params) => wholePattern(params.text('pattern'))],
  minValue: ['min', (params) => params.number('min')],
  maxValue: ['max', (params) => params.number('max')],
  minSelections: ['min_choices', (params) => params.number('min')],
  maxSelections: ['max_choices', (params) => params.number('max')],
  isLaterThan: ['min', (params) => dayBeside(params.text('date'), 1)],
  isEarlierThan: ['max', (params) => dayBeside(params.text('date'), -1)],
  fileExtensionIs: ['accept', (params) => fileExtensionsOf(params.list('extensions'))],
  fileSizeAtMost: [
    'max_file_size',
    (params) => Math.round((params.number('size') ?? 0) * (params.text('unit') === 'MB' ? 1024 ** 2 : 1024)),
  ],
};

const plusOne = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value + by;

/** Our patterns match the whole answer; those of Formbricks match any part of it. */
const wholePattern = (pattern: string | undefined): string | undefined => {
  const [, start, inner, end] = /^(\^?)(.*?)(\$?)$/s.exec(pattern ?? '') ?? [];
  return inner ? `${start ? '' : '.*'}(?:${inner})${end ? '' : '.*'}` : undefined;
};

function dayBeside(day: string | undefined, by: number): string | undefined {
  const at = Date.parse(`${day ?? ''}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : new Date(at + by * 86_400_000).toISOString().slice(0, 10);
}

/** Reads the validation of an element. */
export function readRules(part: SourcePart, node: SketchNode, { texts }: FormbricksImportContext): void {
  const all = part.list('validation.rules');
  const isAny = part.text('validation.logic') === 'or' && all.length > 1;
  for (const rule of all) {
    rule.skip('id');
    const [attribute = '', read] = getProperty(rules, rule.text('type') ?? '') ?? [];
    const isKnown = Object.hasOwn(attributeSpecsOf(node.type), attribute);
    const value = isKnown && !isAny ? read?.(rule.part('params')) : undefined;
    if (value === undefined) rule.leaveOut(leftOutReasons.rule);
    else node.attrs[attribute] = value;
    texts.set(node, 'error_message', rule.part('customErrorMessage'));
  }
}

const operators = mapOperators({
  equals: 'equals',
  not_equals: 'doesNotEqual',
  contains: 'contains',
  not_contains: 'doesNotContain',
  one_of: 'equalsOneOf includesOneOf isAnyOf',
  greater_than: 'isGreaterThan isAfter',
  at_least: 'isGreaterThanOrEqual',
  less_than: 'isLessThan isBefore',
  at_most: 'isLessThanOrEqual',
  answered: 'isSubmitted isAccepted isSet isNotEmpty',
  not_answered: 'isSkipped isNotSet isEmpty',
});

function readCondition(part: SourcePart, reading: FormbricksImportContext, depth = 0): Condition | undefined {
  part.skip('id');
  if (part.part('conditions').isThere) {
    const kind = getProperty({ and: 'all', or: 'any' } as const, part.text('connector') ?? '');
    const inner = depth > 4 || !kind ? [] : part.list('conditions');
    return combineConditions(
      kind ?? 'all',
      inner.map((each) => readCondition(each, reading, depth + 1)),
    );
  }
  const [left, right] = [part.part('leftOperand'), part.part('rightOperand')];
  const kind = (left.text('type') ?? '').replace('question', 'element');
  const named = reading.named.get(`${kind} ${left.text('value') ?? ''}`);
  const operator = part.text('operator') ?? '';
  const is = getProperty(operators, operator);
  if (!named || (right.text('type') ?? 'static') !== 'static') return undefined;
  const list = right.list('value').flatMap((each): PlainValue[] => [each.text() ?? []].flat());
  const single = right.number('value') ?? right.text('value');
  const values = single === undefined ? list : [single];
  const row = left.part('meta.row');
  if (named.rows && row.isThere) return compareRow(named, row.word() ?? '', is, values);
  const isSeveral = named.node.type === 'multiple_choice' || named.node.type === 'picture_choice';
  const anyOf = createComparisonCondition(named, 'one_of', values);
  const allOf = combineConditions(
    'all',
    values.map((value) => createComparisonCondition(named, 'contains', [value])),
  );
  const answered = createComparisonCondition(named, 'answered', []);
  if (operator === 'includesAllOf') return allOf;
  if (operator === 'doesNotIncludeAllOf') return combineConditions('all', [answered, negateCondition(allOf)]);
  if (operator === 'doesNotIncludeOneOf') return combineConditions('all', [answered, negateCondition(anyOf)]);
  if (operator === 'equals' && isSeveral) return compareOnly(named, values);
  return is && createComparisonCondition(named, is, values);
}

/** Returns the condition that an option is the only one chosen. */
function compareOnly(named: ReferencedElement, values: readonly PlainValue[]): Condition | undefined {
  const others = [...(named.choices?.keys() ?? [])].filter((each) => !values.includes(each));
  const chosen = createComparisonCondition(named, 'contains', values);
  if (others.length === 0) return chosen;
  return combineConditions('all', [
    chosen,
    negateCondition(createComparisonCondition(named, 'one_of', others)),
  ]);
}

/** Compares the answer in one row of a matrix. Rows and columns are identified by their numbers. */
function compareRow(
  named: ReferencedElement,
  at: string,
  is: ComparisonOperator | undefined,
  values: readonly PlainValue[],
): Condition | undefined {
  const row = named.rows?.get(at);
  const condition = is && createComparisonCondition(named, is === 'one_of' ? 'equals' : is, values);
  if (row === undefined || !condition) return undefined;
  const inRow = (each: Condition): Condition =>
    'any' in each
      ? { any: each.any.map(inRow) }
      : 'all' in each
        ? { all: each.all.map(inRow) }
        : { ...each, row };
  return inRow(condition);
}

/** Comparison operators in formulas. */
const formulaSigns: Readonly<Partial<Record<ComparisonOperator, string>>> = {
  equals: '=',
  not_equals: '!=',
  greater_than: '>',
  at_least: '>=',
  less_than: '<',
  at_most: '<=',
};

/** Returns a condition as part of a formula, or undefined if a formula cannot express it. */
function formulaOf(condition: Condition): string | undefined {
  const several = (parts: readonly Condition[], word: string): string | undefined => {
    const all = parts.map(formulaOf);
    return all.includes(undefined) ? undefined : `(${all.join(` ${word} `)})`;
  };
  if ('all' in condition) return several(condition.all, 'and');
  if ('any' in condition) return several(condition.any, 'or');
  if ('not' in condition) {
    const inner = formulaOf(condition.not);
    return inner && `not (${inner})`;
  }
  if (!('element' in condition) || condition.row !== undefined) return undefined;
  const { element, is, value } = condition;
  if (is === 'answered') return `answered({${element}})`;
  if (is === 'not_answered') return `not answered({${element}})`;
  const literal = (each: unknown): string => (typeof each === 'string' ? `"${each}"` : String(each));
  const values = [value].flat();
  if (values.some((each) => typeof each === 'string' && /["{}]/.test(each))) return undefined;
  if (is === 'contains') return `includes({${element}}, ${literal(value)})`;
  if (is === 'not_contains') return `not includes({${element}}, ${literal(value)})`;
  const sign = is === 'one_of' ? '=' : formulaSigns[is];
  return sign && `(${values.map((each) => `{${element}} ${sign} ${literal(each)}`).join(' or ')})`;
}

/** For each operator of a calculation, the formula that changes the value if the condition is true. */
const calculations: Readonly<Record<string, (before: string, value: string, when: string) => string>> = {
  add: (before, value, when) => `${before} + if(${when}, ${value}, 0)`,
  subtract: (before, value, when) => `${before} - if(${when}, ${value}, 0)`,
  multiply: (before, value, when) => `(${before}) * if(${when}, ${value}, 1)`,
  divide: (before, value, when) => `(${before}) / if(${when}, ${value}, 1)`,
  assign: (before, value, when) => `if(${when}, ${value}, ${before})`,
};

function readCalculation(
  action: SourcePart,
  when: Condition,
  step: SketchNode,
  reading: FormbricksImportContext,
): boolean {
  const variable = reading.variables.get(action.text('variableId') ?? '');
  const change = getProperty(calculations, action.text('operator') ?? '');
  const [type = '', name = ''] = [action.text('value.type'), action.word('value.value')];
  const named = reading.named.get(`${type.replace('question', 'element')} ${name}`)?.node;
  const isNumber = ['number', 'rating', 'scale', 'calculation'].includes(named?.type ?? '');
  const other = isNumber ? `{${String(named?.attrs['id'])}}` : undefined;
  const value = type === 'static' ? action.number('value.value')?.toString() : other;
  const condition = formulaOf(when);
  if (!variable || !change || value === undefined || condition === undefined) return false;
  const { attrs } = variable.node;
  attrs['formula'] = change(String(attrs['formula']), value, condition);
  variable.step = step;
  action.map(`calculation "${String(attrs['id'])}"`);
  return true;
}

/** Reads the logic after a question or a block: jumps, calculations, and questions that become required. */
export function readFormbricksLogic(
  block: SourcePart,
  step: SketchNode,
  reading: FormbricksImportContext,
): void {
  for (const rule of block.list('logic')) {
    rule.skip('id');
    const when = readCondition(rule.part('conditions'), reading);
    if (!when) rule.leaveOut(leftOutReasons.condition);
    else for (const action of rule.list('actions')) readAction(action, when, step, reading);
  }
  const fallback = block.part('logicFallback');
  if (fallback.isThere) readJump(fallback, fallback.text() ?? '', undefined, step, reading);
}

function readAction(
  action: SourcePart,
  when: Condition,
  step: SketchNode,
  reading: FormbricksImportContext,
): void {
  action.skip('id');
  const objective = action.text('objective');
  const target = action.text('target') ?? '';
  if (objective === 'jumpToQuestion' || objective === 'jumpToBlock')
    return readJump(action, target, when, step, reading);
  if (objective === 'calculate') {
    if (!readCalculation(action, when, step, reading)) action.leaveOut(leftOutReasons.variable);
    return;
  }
  const node = objective === 'requireAnswer' ? reading.named.get(`element ${target}`)?.node : undefined;
  if (!node || !('require_when' in attributeSpecsOf(node.type)))
    return action.leaveOut('This action is not supported.');
  const before = node.attrs['require_when'] as Condition | undefined;
  node.attrs['require_when'] = combineConditions('any', before ? [before, when] : [when]);
  action.map(`condition of "${String(node.attrs['id'])}"`);
}

function readJump(
  part: SourcePart,
  target: string,
  when: Condition | undefined,
  step: SketchNode,
  { sketch, steps, endings }: FormbricksImportContext,
): void {
  const ending = endings.get(target);
  const id = addJump(sketch, step, ending ? 'end' : steps.get(target), when);
  if (id === undefined) return part.leaveOut(leftOutReasons.jump);
  part.map(ending ? 'jump to the end' : `jump to "${id}"`);
  if (!ending) return;
  if (when) ending.when.push(when);
  else if (!ending.isUsual) part.change('Visitors see the first ending.');
}
