import { elementIdSource } from '../basics/element-id.ts';
import { factOf } from '../basics/fact-of.ts';
import { indexOf } from './form-index.ts';
import { type Element, type Form, isComposite, isInput, walkElements } from './tree.ts';

/** What stands in a text for the answer to a question: `{{name}}`, the id of an element between braces. */
const placeholder = new RegExp(String.raw`\{\{ ?(${elementIdSource}) ?\}\}`, 'gu');

/** The texts of elements and steps in which an answer may be shown. */
export const pipedAttributes = ['label', 'help_text', 'title', 'description', 'text', 'caption'] as const;

/** Those in which none may be: no texts of the page, the very text that is agreed to, and what is said where no answers are. */
export const unpipedAttributes = ['placeholder', 'alt', 'statement', 'error_message'] as const;

/** A text as what is written and the ids of what is shown in it, in turn. */
export function splitPiped(text: string): (string | { readonly id: string })[] {
  return text.split(placeholder).map((part, index) => (index % 2 === 0 ? part : { id: part }));
}

/** The ids of the questions whose answers a text shows. */
export const pipedIds = (text: string): string[] => [...text.matchAll(placeholder)].map(([, id]) => id!);

/** A text with what is shown put in; that is not read again, whatever it says. */
export function fillPiped(text: string, say: (id: string) => string): string {
  return text.replaceAll(placeholder, (_all, id: string) => say(id));
}

/** Whether texts of the settings may show the answer: to a question outside of rows. */
export function isShowable(form: Form, id: string): boolean {
  const { element, group } = indexOf(form).byId.get(id) ?? {};
  return element !== undefined && isInput(element) && group === undefined;
}

/** A text where no answers are: the question stands for its answer. */
export function stableText(form: Form, text: string): string {
  return fillPiped(text, (id) => {
    const named = indexOf(form).byId.get(id)?.element;
    return named && isInput(named) ? `[${fillPiped(named.attrs.label, () => '…')}]` : '';
  });
}

/** Whether any text of a form shows an answer. */
export const isPiped = factOf((form: Form): boolean =>
  [...form.children, ...[...walkElements(form)].map(({ element }) => element)].some(hasPiped),
);

/**
 * A form with its labels as they are said where no answers are: in columns, exports, payloads and summaries,
 * `How old is [Full name]?`. One whose texts show no answers is itself.
 */
export function withStableLabels(form: Form): Form {
  if (!isPiped(form)) return form;
  const made = (element: Element): Element => {
    const { label } = { label: undefined, ...element.attrs };
    const attrs = { ...element.attrs, ...(label !== undefined && { label: stableText(form, label) }) };
    // Which attributes a type has is not changed by another text in one of them.
    return {
      ...element,
      attrs,
      ...(isComposite(element) && { children: element.children.map(made) }),
    } as Element;
  };
  return { ...form, children: form.children.map((step) => ({ ...step, children: step.children.map(made) })) };
}

function hasPiped({ attrs = {} }: { readonly attrs?: object }): boolean {
  const texts = pipedAttributes.map((name): unknown => (attrs as Record<string, unknown>)[name]);
  return texts.some((text) => typeof text === 'string' && pipedIds(text).length > 0);
}
