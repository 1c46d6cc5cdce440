import type { ElementType } from './elements.ts';
import { fillPipedWithLabels } from './piping.ts';
import { type Form, isComposite, isInput, isRepeatable, isRequired, walkElements } from './tree.ts';

export type FieldDescription = {
  readonly label: string;
  readonly type: ElementType;
  readonly required: boolean;
};

/**
 * Builds `metadata.fields` of a submission (specification, "Submission"): label, type and required by element
 * ID, for inputs and for repeatable groups with the inputs in their rows.
 */
export function describeFields(form: Form): Record<string, FieldDescription> {
  const fields: Record<string, FieldDescription> = {};
  for (const { element } of walkElements(form)) {
    if (!isInput(element) && !(isComposite(element) && isRepeatable(element))) continue;
    const { type, attrs } = element;
    const required = isInput(element) && isRequired(element);
    fields[attrs.id] = { label: fillPipedWithLabels(form, attrs.label), type, required };
  }
  return fields;
}
