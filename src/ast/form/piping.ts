import { elementIdPatternSource } from '../basics/element-id.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { formIndexOf } from './form-index.ts';
import { type Element, type Form, isComposite, isInput, walkElements } from './tree.ts';

/** Matches the placeholder of an answer in a text: the element ID in double braces, `{{name}}`. */
const placeholder = new RegExp(String.raw`\{\{ ?(${elementIdPatternSource}) ?\}\}`, 'gu');

/** The text attributes of elements and steps that can show answers. */
export const pipedAttributes = ['label', 'help_text', 'title', 'description', 'text', 'caption'] as const;

/** Text attributes without placeholders: hidden texts, the text of a consent, and error messages. */
export const unpipedAttributes = ['placeholder', 'alt', 'statement', 'error_message', 'explanation'] as const;

/** Splits a text into literal parts and the IDs of placeholders, alternating. */
export function splitPiped(text: string): (string | { readonly id: string })[] {
  return text.split(placeholder).map((part, index) => (index % 2 === 0 ? part : { id: part }));
}

/** Lists the IDs of the questions whose answers a text shows. */
export const pipedIds = (text: string): string[] => [...text.matchAll(placeholder)].map(([, id]) => id!);

/** Fills the placeholders of a text. Placeholders inside inserted answers are not filled. */
export function fillPiped(text: string, formatAnswer: (id: string) => string): string {
  return text.replaceAll(placeholder, (_all, id: string) => formatAnswer(id));
}

/** Returns whether texts in the settings can show the answer: only inputs outside of rows. */
export function canPipeInSettings(form: Form, id: string): boolean {
  const { element, group } = formIndexOf(form).byId.get(id) ?? {};
  return element !== undefined && isInput(element) && group === undefined;
}

/** Fills placeholders when there are no answers: each shows the label of its question. */
export function fillPipedWithLabels(form: Form, text: string): string {
  return fillPiped(text, (id) => {
    const named = formIndexOf(form).byId.get(id)?.element;
    return named && isInput(named) ? `[${fillPiped(named.attrs.label, () => '…')}]` : '';
  });
}

/** Returns whether any text of a form shows an answer. */
export const isPiped = memoizeByObject((form: Form): boolean =>
  [...form.children, ...[...walkElements(form)].map(({ element }) => element)].some(hasPiped),
);

/**
 * Returns a form whose labels contain no placeholders, for columns, exports, payloads and summaries: `How old
 * is [Full name]?`. Returns the form itself if it has no placeholders.
 */
export function withPipedLabels(form: Form): Form {
  if (!isPiped(form)) return form;
  const fill = (element: Element): Element => {
    const { label } = { label: undefined, ...element.attrs };
    const attrs = {
      ...element.attrs,
      ...(label !== undefined && { label: fillPipedWithLabels(form, label) }),
    };
    // Changing a label does not change the type of the attributes.
    return {
      ...element,
      attrs,
      ...(isComposite(element) && { children: element.children.map(fill) }),
    } as Element;
  };
  return { ...form, children: form.children.map((step) => ({ ...step, children: step.children.map(fill) })) };
}

function hasPiped({ attrs = {} }: { readonly attrs?: object }): boolean {
  const texts = pipedAttributes.map((name): unknown => (attrs as Record<string, unknown>)[name]);
  return texts.some((text) => typeof text === 'string' && pipedIds(text).length > 0);
}
