import type { ElementType } from './elements.ts';
import { withStableLabels } from './piping.ts';
import { type Form, isRequired, listQuestions } from './tree.ts';

export type FieldDescription = {
  readonly label: string;
  readonly type: ElementType;
  readonly required: boolean;
};

/**
 * `metadata.fields` of a submission (specification, "Submission"): element id to label, type and required, for
 * everything that can be answered: inputs, and repeatable composites beside the inputs of their rows.
 */
export function describeFields(form: Form): Record<string, FieldDescription> {
  const fields: Record<string, FieldDescription> = {};
  for (const question of listQuestions(withStableLabels(form))) {
    const { type, attrs } = question.element;
    if (question.kind === 'group') fields[attrs.id] = { label: attrs.label, type, required: false };
    for (const input of question.kind === 'group' ? question.inputs : [question.element]) {
      fields[input.attrs.id] = { label: input.attrs.label, type: input.type, required: isRequired(input) };
    }
  }
  return fields;
}
