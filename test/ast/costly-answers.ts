import { Session } from 'node:inspector';
import * as fc from 'fast-check';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { TooMuchWork } from '#ast/basics/work.ts';
import type { Form } from '#ast/form/tree.ts';
import { composite, context, element } from './forms.ts';

/** Returns the result of an answer check, and the steps that it spent. */
export function check(form: Form, raw: unknown): { result: 'taken' | 'wrong' | 'too much'; steps: number } {
  const { work, ...rest } = context;
  const spent = (): number => formLimits.workSteps - work.left;
  try {
    const { ok } = checkAnswers(form, raw, new Map(), { ...rest, work });
    return { result: ok ? 'taken' : 'wrong', steps: spent() };
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return { result: 'too much', steps: spent() };
  }
}

export const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

/*
 * Searches for the slowest inputs. The JavaScript engine counts the executed blocks of our code, so work
 * without a `spend` is also found. Equal cases always have equal costs.
 */

/** A form with its answers, described by numbers that are each a share of a limit. */
type Shape = Readonly<Record<(typeof dimensions)[number], number>>;
const dimensions = [
  'rows',
  'inputs',
  'conditions',
  'values',
  'text',
  'kind',
  'pattern',
  'operator',
  'letter',
] as const;

const kinds = ['text', 'textarea', 'number', 'date', 'radio', 'multiple_choice'] as const;
const patterns = [
  '(?:(?:a|a)*){40}b',
  '(a|b)*a(a|b){80}',
  '[^<>]*',
  '(?:[a-c]|\\p{L}|\\w)*!',
  '(a?){60}a{60}',
];
const comparisons = ['one_of', 'equals', 'contains', 'not_contains', 'answered'] as const;
const letters = ['a', 'Σ', '\r\n', 'ab', ' '];

const pick = <Item>(list: readonly Item[], share: number): Item =>
  list[Math.min(list.length - 1, Math.floor(share * list.length))]!;
const upTo = (most: number, share: number): number => Math.max(1, Math.round(most * share));

function caseOf(shape: Shape): { form: Form; raw: Record<string, unknown> } {
  const rows = upTo(formLimits.rows, shape.rows);
  const inputs = upTo(400, shape.inputs);
  const kind = pick(kinds, shape.kind);
  const is = pick(comparisons, shape.operator);
  const values = many(upTo(formLimits.conditionValues, shape.values), (index) => `${'a'.repeat(index)}b`);
  const value = is === 'one_of' ? values : is === 'answered' ? undefined : values.at(-1);
  const perInput = Math.floor((formLimits.formComparisons * shape.conditions) / inputs);
  const condition = {
    any: many(perInput, () => ({ element: 'i0', is, ...(value !== undefined && { value }) })),
  };
  const attrs = (index: number): Record<string, unknown> => ({
    ...(index > 0 && perInput > 0 && { show_when: { not: condition } }),
    ...(kind === 'text' && shape.pattern > 0.3 && { pattern: pick(patterns, (shape.pattern - 0.3) / 0.7) }),
    ...(kind === 'number' && { step: 0.000_001 }),
    ...(kind === 'date' && { min: 'today-30' }),
    ...(kind.includes('choice') && { options: many(500, (option) => `o${option}`), other: true }),
  });
  const children = many(inputs, (index) => element(kind, `i${index}`, attrs(index)));
  // A request body has at most 1 MB.
  const length = Math.min(upTo(formLimits.answerBytes / 2, shape.text), 1_000_000 / (rows * inputs));
  const text = pick(letters, shape.letter).repeat(Math.max(1, length)).slice(0, formLimits.answerBytes);
  const answer =
    { number: 0.123_457, date: '2026-01-31', multiple_choice: text.split('') }[kind as string] ?? text;
  const row = Object.fromEntries(many(inputs, (index) => [`i${index}`, answer]));
  const group = composite('g', children, { repeatable: true });
  // Not validated, because validation is not measured.
  return {
    form: {
      type: 'form',
      attrs: { name: 'F' },
      children: [{ type: 'step', children: [group] }],
    } as unknown as Form,
    raw: { g: many(rows, () => row) },
  };
}

/** Counts the blocks of the form language's code that `run` executes. */
async function countBlocks(session: Session, run: () => void): Promise<number> {
  const take = (): Promise<number> =>
    new Promise((resolve, reject) =>
      session.post('Profiler.takePreciseCoverage', (error, found) => {
        if (error) return reject(error);
        const ours = found.result.filter(({ url }) => url.includes('/src/ast/') && !url.includes('.test.'));
        const ranges = ours.flatMap(({ functions }) => functions.flatMap((each) => each.ranges));
        return resolve(ranges.reduce((sum, { count }) => sum + count, 0));
      }),
    );
  await take();
  run();
  return take();
}

const share = fc.constantFrom(0, 0.01, 0.1, 0.3, 0.5, 0.8, 1);
const shapes: fc.Arbitrary<Shape> = fc.record(
  Object.fromEntries(dimensions.map((name) => [name, share])) as Record<keyof Shape, fc.Arbitrary<number>>,
);

/** Returns the worst of many random cases and of as many mutations of it. */
async function search(cases: number): Promise<{ blocks: number; shape: Shape }> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const sample = { numRuns: cases, seed: 7, unbiased: true };
  const begun = fc.sample(shapes, sample);
  let worst = { blocks: 0, shape: begun[0]! };
  const look = async (shape: Shape): Promise<void> => {
    const { form, raw } = caseOf(shape);
    const blocks = await countBlocks(session, () => check(form, raw));
    if (blocks > worst.blocks) worst = { blocks, shape };
  };
  for (const shape of begun) await look(shape);
  // Mutates two numbers of the worst case at a time, and continues from each worse case.
  for (const other of fc.sample(shapes, { ...sample, seed: 8 })) {
    const [first, second] = fc.sample(fc.constantFrom(...dimensions), { numRuns: 2, seed: worst.blocks });
    await look({ ...worst.shape, [first!]: other[first!], [second!]: other[second!] });
  }
  return worst;
}

if (import.meta.main) process.stdout.write(JSON.stringify(await search(Number(process.argv[2]))));
