import { elements } from '#ast/elements.ts';
import type { JsonSchema } from '#ast/json-schema.ts';
import type { InputElement } from '#ast/tree.ts';

/** The schema of one answer that is there (docs/rules.md 10), by the author's rules as far as a schema can say them. */
export function answerSchema(input: InputElement): JsonSchema {
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
