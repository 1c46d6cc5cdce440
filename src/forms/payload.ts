import { Type } from 'typebox';
import type { JsonSchema } from '#ast/basics/json-schema.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import {
  answerKindOf,
  type Element,
  type Form,
  type InputElement,
  isComposite,
  isRepeatable,
  isRequired,
  listQuestions,
} from '#ast/form/tree.ts';
import { namedObject, nameSchema } from '#kit/pagination.ts';
import { timestampSchema, uuidSchema } from '#kit/validation.ts';

/** A file as the API returns it (docs/rules.md 10). */
export const FileUploadShape = namedObject('FileUpload', {
  id: uuidSchema,
  filename: Type.String(),
  size: Type.Integer({ description: 'Size in bytes.' }),
  content_type: Type.String(),
  url: Type.String({ format: 'uri', description: 'A signed URL that is valid for one hour.' }),
});

const record = Type.Record;
const chosen = Type.Array(Type.String());
const rowsOfMatrix = record(Type.String(), Type.Union([Type.String(), chosen]));
const consent = Type.Object({
  agreed: Type.Literal(true),
  text: Type.String({ description: 'The text that the visitor agreed to.' }),
  version: Type.Integer({ description: 'The version of the form that contains this text.' }),
  at: timestampSchema,
});
const plain = [Type.String(), Type.Number(), Type.Boolean(), chosen, consent, rowsOfMatrix] as const;
const files = Type.Array(FileUploadShape);

/**
 * The answers of a submission by element id (docs/rules.md 10). The type of an answer depends on its
 * question.
 */
export const Answers = nameSchema(
  'Answers',
  record(
    Type.String(),
    Type.Union([...plain, files, Type.Array(record(Type.String(), Type.Union([...plain, files])))]),
    {
      description:
        'Answers by element id. An answer is text, a number, a boolean, the chosen options, a consent, files, or the rows of a repeatable group. A matrix has an answer for each row id. Unanswered questions are omitted.',
    },
  ),
);

/** The answers of an event. Files are listed separately. */
export const EventAnswersShape = nameSchema(
  'Responses',
  record(Type.String(), Type.Union([...plain, Type.Array(record(Type.String(), Type.Union([...plain])))]), {
    description: 'Answers by element id, without files.',
  }),
);

type WithLogic = { readonly attrs?: { readonly show_when?: unknown; readonly hide_when?: unknown } };

const hasLogic = ({ attrs }: WithLogic): boolean =>
  attrs?.show_when !== undefined || attrs?.hide_when !== undefined;

/**
 * Returns the elements that every visitor sees: no condition applies to them, to their parents or to their
 * step, and no earlier step has a jump. Elements of a repeatable composite are seen in each of its rows.
 */
function alwaysShown(form: Form): ReadonlySet<Element> {
  const shown = new Set<Element>();
  for (const step of form.children) {
    if (!hasLogic(step)) addShown(shown, step.children);
    if (step.attrs?.jumps?.length) break;
  }
  return shown;
}

function addShown(shown: Set<Element>, elements: readonly Element[]): void {
  for (const element of elements) {
    // A row exists only if its composite is shown, so the composite's conditions do not matter for its cells.
    if (isComposite(element) && (isRepeatable(element) || !hasLogic(element)))
      addShown(shown, element.children);
    if (!hasLogic(element)) shown.add(element);
  }
}

/**
 * Returns the schema of an answer (docs/rules.md 10), with the author's rules if a schema can express them.
 */
function answerSchema(input: InputElement): JsonSchema {
  // The table pairs each type with its attributes. The type of a lookup by a union cannot express this, so
  // the result is cast.
  const write = elementDefinitions[input.type].schema as (attrs: InputElement['attrs']) => JsonSchema;
  const { description, ...schema } = write(input.attrs);
  const notes = [description, whenShown(input)].filter((note) => note !== undefined);
  return { title: input.attrs.label, ...schema, ...(notes.length > 0 && { description: notes.join(' ') }) };
}

/** A visitor who does not see a question gives no answer, so only some submissions have one. */
function whenShown({ attrs }: InputElement): string | undefined {
  if (attrs.show_when === undefined && attrs.hide_when === undefined) return undefined;
  return 'Present only if the conditions of the form show this question.';
}

/**
 * Returns the schema of the answers of a completed submission. An answer is required if every visitor must
 * give it. Other names are allowed, so that receivers keep working when the form grows.
 * @param options `files`: whether to include uploads, as the API does; webhooks list them separately.
 */
export function answersSchema(original: Form, { files }: { files: boolean }): JsonSchema {
  const form = withPipedLabels(original);
  const shown = alwaysShown(form);
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const question of listQuestions(form)) {
    const { element } = question;
    if (question.kind === 'group') {
      properties[element.attrs.id] = rowsSchema(question.element.attrs.label, question.inputs, shown, files);
    } else if (files || answerKindOf(question.element) !== 'files') {
      properties[element.attrs.id] = answerSchema(question.element);
      if (isAlwaysGiven(question.element, shown)) required.push(element.attrs.id);
    }
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** Returns the schema of a form's uploads by element id, including those in rows, as webhooks send them. */
export function fileUploadsSchema(form: Form, file: JsonSchema): JsonSchema {
  const uploads = listQuestions(withPipedLabels(form))
    .flatMap((question) => (question.kind === 'group' ? question.inputs : [question.element]))
    .filter((input) => answerKindOf(input) === 'files');
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
  const cells = inputs.filter((input) => files || answerKindOf(input) !== 'files');
  const required = cells.filter((input) => isAlwaysGiven(input, shown)).map(({ attrs }) => attrs.id);
  const row: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(cells.map((input) => [input.attrs.id, answerSchema(input)])),
    ...(required.length > 0 && { required }),
  };
  return { title, type: 'array', items: row, minItems: 1, maxItems: formLimits.rows };
}
