import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { context, element, stepsOf } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { type Answers, checkAnswers } from '../answers/check-answers.ts';
import { checkStep, stepIndexOfField } from '../answers/check-step.ts';
import type { Condition } from '../basics/condition.ts';
import { type Form, type FormNode, listQuestions } from '../form/tree.ts';
import { validateStructure } from '../validate.ts';
import { operatorsForType } from './check-condition.ts';
import { evaluateVisibility } from './evaluate.ts';

// A failure prints its seed and path. Add both to these options to run it again.
const options: fc.Parameters<unknown> = { numRuns: cases(500) };

const types = ['text', 'number', 'yes_no', 'radio', 'multiple_choice', 'date'] as const;
type Type = (typeof types)[number];

/** Few values, so that conditions are often true. The last of each type is not a valid answer. */
const values: Record<Type, readonly unknown[]> = {
  text: ['Ada', 'b', ' ', 5],
  number: [0, 3, 9, 'x'],
  yes_no: [true, false, 'yes'],
  radio: ['Red', 'Blue', 'Pink'],
  multiple_choice: [['Red'], ['Red', 'Blue'], ['Pink']],
  date: ['2026-01-31', '2025-06-01', 'soon'],
};
const compared: Record<Type, readonly unknown[]> = {
  text: ['ada', 'b'],
  number: [3, 5],
  yes_no: [true, false],
  radio: ['Red', 'Blue'],
  multiple_choice: ['Red', 'Blue'],
  date: ['2026-01-31', 'today-30'],
};

type Named = { id: string; type: Type };

function comparisonOf(inputs: readonly Named[]): fc.Arbitrary<unknown> {
  return fc
    .constantFrom(...inputs)
    .chain(({ id, type }) =>
      fc.record({
        id: fc.constant(id),
        type: fc.constant(type),
        is: fc.constantFrom(...operatorsForType(type)),
      }),
    )
    .chain(({ id, type, is }): fc.Arbitrary<unknown> => {
      if (is === 'answered' || is === 'not_answered') return fc.constant({ element: id, is });
      const value = fc.constantFrom(...compared[type]);
      const operand = is === 'one_of' ? fc.array(value, { minLength: 1, maxLength: 2 }) : value;
      return operand.map((each) => ({ element: id, is, value: each }));
    });
}

/** A condition on some of the inputs, or on the reference data if there are none. */
function conditionOver(inputs: readonly Named[]): fc.Arbitrary<unknown> {
  const reference = fc.constantFrom('x', 'y').map((value) => ({ reference: 'plan', is: 'equals', value }));
  const leaf =
    inputs.length === 0 ? reference : fc.oneof({ weight: 4, arbitrary: comparisonOf(inputs) }, reference);
  return fc.letrec((tie) => ({
    condition: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      leaf,
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie('condition').map((not) => ({ not })),
    ),
  })).condition;
}

const stepCount = 3;
const perStep = 4;

/** Forms of three steps with conditions everywhere; the last two inputs of each step are in rows. */
const logicalForm: fc.Arbitrary<{ form: Form; inputs: Named[] }> = fc
  .array(fc.constantFrom(...types), { minLength: stepCount * perStep, maxLength: stepCount * perStep })
  .chain((chosen) => {
    const inputs = chosen.map((type, index): Named => ({ id: `q${index}`, type }));
    const plain = (index: number) => index % perStep < 2;
    const before = (index: number) => inputs.filter((_, other) => other < index && plain(other));
    const attrs = inputs.map((_, index) => {
      const sibling = plain(index) || index % perStep === 2 ? [] : [inputs[index - 1]!];
      const condition = conditionOver([...before(index), ...sibling]);
      return fc.record(
        { show_when: condition, hide_when: condition, require_when: condition, required: fc.boolean() },
        { requiredKeys: [] },
      );
    });
    const steps = Array.from({ length: stepCount }, (_, step) => {
      const earlier = conditionOver(before(step * perStep));
      const jump = fc.record({
        when: conditionOver(before((step + 1) * perStep)),
        to: fc.constantFrom('end', ...(step === 0 ? ['s2'] : [])),
      });
      return fc.record(
        {
          id: fc.constant(`s${step}`),
          show_when: earlier,
          hide_when: earlier,
          jumps: fc.array(jump, { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: ['id'] },
      );
    });
    return fc.tuple(fc.tuple(...attrs), fc.tuple(...steps)).map(([elementAttrs, stepAttrs]) => {
      const nodes = inputs.map(({ id, type }, index) => element(type, id, elementAttrs[index]));
      const node = stepsOf(...stepAttrs.flatMap((each, step) => [each, stepChildren(nodes, step)]));
      const result = validateStructure(node);
      assert.ok(result.ok, JSON.stringify(result));
      return { form: result.form, inputs };
    });
  });

function stepChildren(nodes: readonly FormNode[], step: number): unknown[] {
  const [first, second, ...rows] = nodes.slice(step * perStep, (step + 1) * perStep);
  const attrs = { id: `rows${step}`, label: 'Rows', repeatable: true };
  return [first, second, { type: 'composite', attrs, children: rows }];
}

/** Valid and invalid answers to some of the questions. */
const answersTo = (inputs: readonly Named[]): fc.Arbitrary<Record<string, unknown>> => {
  const answersOf = (list: readonly Named[]) =>
    fc.record(Object.fromEntries(list.map(({ id, type }) => [id, fc.constantFrom(...values[type])])), {
      requiredKeys: [],
    });
  const groups = Array.from({ length: stepCount }, (_, step) => {
    const rows = inputs.slice(step * perStep + 2, (step + 1) * perStep);
    return [`rows${step}`, fc.array(answersOf(rows), { maxLength: 2 })] as const;
  });
  const top = inputs.filter((_, index) => index % perStep < 2);
  return fc
    .tuple(answersOf(top), fc.record(Object.fromEntries(groups), { requiredKeys: [] }))
    .map(([plain, rows]) => ({ ...plain, ...rows }));
};

const filled = logicalForm.chain(({ form, inputs }) =>
  fc.record({ form: fc.constant(form), raw: answersTo(inputs), plan: fc.constantFrom('x', 'z') }),
);

/** Yields every stored answer with its element and its row. */
function* storedIn(form: Form, answers: Answers) {
  for (const question of listQuestions(form)) {
    const value = answers[question.element.attrs.id];
    if (value === undefined) continue;
    yield { element: question.element };
    if (question.kind === 'input') continue;
    for (const [index, row] of (value as Record<string, unknown>[]).entries()) {
      for (const input of question.inputs) {
        if (row[input.attrs.id] !== undefined)
          yield { element: input, row: { group: question.element, index } };
      }
    }
  }
}

test('no hidden answer is stored, and storing visible answers does not change visibility', () => {
  let accepted = 0;
  fc.assert(
    fc.property(filled, ({ form, raw, plan }) => {
      const knowing = { ...context, reference: { plan } };
      const result = checkAnswers(form, raw, new Map(), knowing);
      if (!result.ok) return;
      accepted += 1;
      const shown = evaluateVisibility(form, result.answers, knowing);
      for (const { element, row } of storedIn(form, result.answers)) assert.ok(shown.isShown(element, row));
      assert.deepEqual(shown.steps, evaluateVisibility(form, raw, knowing).steps);
      assert.deepEqual(
        checkAnswers(form, JSON.parse(JSON.stringify(result.answers)), new Map(), knowing),
        result,
      );
    }),
    options,
  );
  assert.ok(accepted > 20, `only ${accepted} sets of answers were accepted`);
});

test('the problems of a form are those of its reached steps, in order', () => {
  fc.assert(
    fc.property(filled, ({ form, raw, plan }) => {
      const knowing = { ...context, reference: { plan } };
      const whole = checkAnswers(form, raw, new Map(), knowing);
      const { steps } = evaluateVisibility(form, raw, knowing);
      const each = [0, 1, 2].map((step) => checkStep(form, step, raw, new Map(), knowing));
      assert.deepEqual(
        each.flat(),
        whole.ok ? [] : whole.errors.map(({ field, problem }) => ({ field, problem })),
      );
      for (const [step, problems] of each.entries()) {
        assert.ok(problems.length === 0 || steps.includes(step));
        for (const { field } of problems) assert.equal(stepIndexOfField(form, field), step);
      }
    }),
    options,
  );
});

test('the path through the steps only leads forward', () => {
  fc.assert(
    fc.property(filled, ({ form, raw }) => {
      const { steps } = evaluateVisibility(form, raw, context);
      assert.deepEqual(
        steps,
        [...new Set(steps)].toSorted((a, b) => a - b),
      );
    }),
    options,
  );
});

test('no value makes the evaluation throw', () => {
  const keys = Array.from({ length: stepCount * perStep }, (_, index) => `q${index}`);
  const anything = fc.oneof(
    fc.anything(),
    fc.dictionary(
      fc.constantFrom(...keys, 'rows0', 'rows1'),
      fc.oneof(fc.anything(), fc.array(fc.anything())),
    ),
  );
  fc.assert(
    fc.property(logicalForm, anything, ({ form }, raw) => {
      const shown = evaluateVisibility(form, raw, context);
      for (const question of listQuestions(form)) {
        shown.isShown(question.element);
        for (const input of question.kind === 'group' ? question.inputs : [question.element]) {
          const row = question.kind === 'group' ? { group: question.element, index: 0 } : undefined;
          shown.isRequired(input, row);
        }
      }
      checkAnswers(form, raw, new Map(), context);
    }),
    options,
  );
});

test('a condition is JSON: it keeps its meaning when stored and read again', () => {
  fc.assert(
    fc.property(filled, ({ form, raw }) => {
      const again = validateStructure(JSON.parse(JSON.stringify(form)));
      assert.ok(again.ok);
      assert.deepEqual(
        checkAnswers(again.form, raw, new Map(), context),
        checkAnswers(form, raw, new Map(), context),
      );
    }),
    options,
  );
});

/** Trees that resemble conditions: valid keys with values of any type. */
const almostCondition = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue(),
    fc.record(
      {
        element: fc.constantFrom('a', 'gone', 5),
        reference: fc.constantFrom('plan', ''),
        is: fc.constantFrom('equals', 'one_of', 'answered', 'like'),
        value: fc.jsonValue(),
        all: fc.array(tie('condition')),
        not: tie('condition'),
      },
      { requiredKeys: [] },
    ),
  ),
})).condition;

test('no tree makes the check of a condition throw, and every accepted tree can be evaluated', () => {
  fc.assert(
    fc.property(almostCondition, almostCondition, (show, when) => {
      const jumps = [{ when, to: 'end' }];
      const result = validateStructure(
        stepsOf({ jumps }, [element('text', 'a'), element('text', 'b', { show_when: show as Condition })]),
      );
      if (result.ok) evaluateVisibility(result.form, { a: 'x' }, context);
    }),
    options,
  );
});
