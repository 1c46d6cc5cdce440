import { isRecord } from '../basics/json.ts';
import { parseGroupFieldName } from '../form/fields.ts';
import { formIndexOf } from '../form/form-index.ts';
import { type Form, listQuestions } from '../form/tree.ts';
import { type EvaluationContext, evaluateVisibility } from '../logic/evaluate.ts';
import type { FileFacts } from '../rules/check-files.ts';
import { collectValidAnswers, type FieldProblem } from './fill.ts';

/**
 * Checks the answers of one step in form order, for "Next". Returns no problems if the step is not reached.
 * `files` can be files that are selected but not uploaded yet.
 * @throws TooMuchWork
 */
export function checkStep(
  form: Form,
  step: number,
  raw: unknown,
  files: ReadonlyMap<string, readonly FileFacts[]>,
  context: EvaluationContext,
): FieldProblem[] {
  const only = form.children[step];
  if (!only || !isRecord(raw)) return [];
  const shown = evaluateVisibility(form, raw, context, files);
  const questions = listQuestions({ ...form, children: [only] });
  return [...collectValidAnswers({}, questions, { raw, files, shown, context, step })];
}

/**
 * Returns the index of the step that contains a field: an element ID, or a name in a row. Undefined for other
 * names.
 */
export function stepIndexOfField(form: Form, field: string): number | undefined {
  const { byId } = formIndexOf(form);
  // A problem with a whole row has the field `group[0]`.
  const [, group] = /^([^[\]]+)\[\d+\]$/.exec(field) ?? [];
  return byId.get(parseGroupFieldName(field)?.group ?? group ?? field)?.path[0];
}
