import { limits } from '#ast/limits.ts';
import { withStableLabels } from '#ast/piping.ts';
import { type Element, type Form, type InputElement, isRequired, kindOf, listQuestions } from '#ast/tree.ts';
import { answerSchema } from './answer-schema.ts';
import type { JsonSchema } from '#ast/json-schema.ts';
import { alwaysShown } from './presence.ts';

/**
 * The schema of the answers of a completed submission, generated from the form: an answer is required when every
 * visitor must give it. Names that are not in it are allowed, so that a receiver goes on while the form grows.
 * @param options `files`: whether uploads are among the answers, as the API has them; webhooks tell them apart.
 */
export function answersSchema(asked: Form, { files }: { files: boolean }): JsonSchema {
  const form = withStableLabels(asked);
  const shown = alwaysShown(form);
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const question of listQuestions(form)) {
    const { element } = question;
    if (question.kind === 'group') {
      properties[element.attrs.id] = rowsSchema(question.element.attrs.label, question.inputs, shown, files);
    } else if (files || kindOf(question.element) !== 'files') {
      properties[element.attrs.id] = answerSchema(question.element);
      if (isAlwaysGiven(question.element, shown)) required.push(element.attrs.id);
    }
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** The uploads of a form by element id, those of rows included, as webhooks tell of them. */
export function fileUploadsSchema(form: Form, file: JsonSchema): JsonSchema {
  const uploads = listQuestions(withStableLabels(form))
    .flatMap((question) => (question.kind === 'group' ? question.inputs : [question.element]))
    .filter((input) => kindOf(input) === 'files');
  const properties = Object.fromEntries(
    uploads.map(({ attrs }) => [
      attrs.id,
      { title: attrs.label, type: 'array', items: file, minItems: 1 } satisfies JsonSchema,
    ]),
  );
  return { type: 'object', properties };
}

const isAlwaysGiven = (input: InputElement, shown: ReadonlySet<Element>): boolean =>
  isRequired(input) && shown.has(input);

function rowsSchema(
  title: string,
  inputs: readonly InputElement[],
  shown: ReadonlySet<Element>,
  files: boolean,
): JsonSchema {
  const cells = inputs.filter((input) => files || kindOf(input) !== 'files');
  const required = cells.filter((input) => isAlwaysGiven(input, shown)).map(({ attrs }) => attrs.id);
  const row: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(cells.map((input) => [input.attrs.id, answerSchema(input)])),
    ...(required.length > 0 && { required }),
  };
  return { title, type: 'array', items: row, minItems: 1, maxItems: limits.rows };
}
