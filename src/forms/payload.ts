import { Type } from 'typebox';
import type { JsonSchema } from '#ast/basics/json-schema.ts';
import { limits } from '#ast/basics/limits.ts';
import { elements } from '#ast/form/elements.ts';
import { withStableLabels } from '#ast/form/piping.ts';
import {
  type Element,
  type Form,
  type InputElement,
  isComposite,
  isRepeatable,
  isRequired,
  kindOf,
  listQuestions,
} from '#ast/form/tree.ts';
import { named } from '#kit/pagination.ts';

/** A file as the API shows it (docs/rules.md 10). */
export const FileUpload = named(
  'FileUpload',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    filename: Type.String(),
    size: Type.Integer({ description: 'Bytes.' }),
    content_type: Type.String(),
    url: Type.String({ format: 'uri', description: 'A signed address, good for one hour.' }),
  }),
);

const record = Type.Record;
const chosen = Type.Array(Type.String());
const rowsOfMatrix = record(Type.String(), Type.Union([Type.String(), chosen]));
const consent = Type.Object({
  agreed: Type.Literal(true),
  text: Type.String({ description: 'What was agreed to, as it was read.' }),
  version: Type.Integer({ description: 'The version of the form that it was in.' }),
  at: Type.String({ format: 'date-time' }),
});
const plain = [Type.String(), Type.Number(), Type.Boolean(), chosen, consent, rowsOfMatrix] as const;
const files = Type.Array(FileUpload);

/** The answers of a submission by element id (docs/rules.md 10); their type is that of the question. */
export const Answers = named(
  'Answers',
  record(
    Type.String(),
    Type.Union([...plain, files, Type.Array(record(Type.String(), Type.Union([...plain, files])))]),
    {
      description:
        'Element id -> answer: a text, a number, yes or no, the options that were chosen, of a matrix by the ids of its rows, what was agreed to and when, files, or the rows of a group that repeats. A question that was not answered is absent.',
    },
  ),
);

/** The answers of an event, whose files are beside them. */
export const Responses = named(
  'Responses',
  record(Type.String(), Type.Union([...plain, Type.Array(record(Type.String(), Type.Union([...plain])))]), {
    description: 'Element id -> answer, without files.',
  }),
);

type WithLogic = { readonly attrs?: { readonly show_when?: unknown; readonly hide_when?: unknown } };

const hasLogic = ({ attrs }: WithLogic): boolean =>
  attrs?.show_when !== undefined || attrs?.hide_when !== undefined;

/**
 * The elements that every visitor gets to see: nothing shows or hides them, what is around them, or their step, and no
 * earlier step may be left for a later one. Elements of a repeatable composite are seen in every row that there is.
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
    // A row is there at all only while its composite is shown, so that one's conditions say nothing of its cells.
    if (isComposite(element) && (isRepeatable(element) || !hasLogic(element)))
      addShown(shown, element.children);
    if (!hasLogic(element)) shown.add(element);
  }
}

/** The schema of one answer that is there (docs/rules.md 10), by the author's rules as far as a schema can say them. */
function answerSchema(input: InputElement): JsonSchema {
  // The table pairs each type with its own attributes, which a lookup by a union cannot express.
  const write = elements[input.type].schema as (attrs: InputElement['attrs']) => JsonSchema;
  const { description, ...schema } = write(input.attrs);
  const notes = [description, whenShown(input)].filter((note) => note !== undefined);
  return {
    title: input.attrs.label,
    ...schema,
    ...(notes.length > 0 && { description: notes.join(' ') }),
  };
}

/** A visitor who does not see a question gives no answer, so it is there in some submissions only. */
function whenShown({ attrs }: InputElement): string | undefined {
  if (attrs.show_when === undefined && attrs.hide_when === undefined) return undefined;
  return 'Only there when the conditions of the form show this question.';
}

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
