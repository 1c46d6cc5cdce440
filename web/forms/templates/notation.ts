import type { InputType } from '#ast/input-rules.ts';
import type { Composite, Element, Form, InputElement, Step } from '#ast/tree.ts';

/*
 * Templates are written as one reads a form: what is asked, by which words, and what else is said of it.
 * An element whose type needs more than a label, such as options, does not compile without.
 */

type Input<Type extends InputType> = Extract<InputElement, { readonly type: Type }>;
type More<Attrs, Said extends PropertyKey> = Omit<Attrs, Said>;
type Rest<Attrs> = object extends Attrs ? [more?: Attrs] : [more: Attrs];

/** A question, a result, or what comes with the address. */
export const ask = <const Type extends InputType>(
  type: Type,
  id: string,
  label: string,
  ...[more]: Rest<More<Input<Type>['attrs'], 'id' | 'label'>>
): InputElement =>
  // Which attributes belong to the type is checked where it is called; a union cannot say it of what is made here. Nor is it said
  // of which type it is: for each call the compiler would infer it from all that stands where an element does.
  ({ type, attrs: { id, label, ...more }, children: [] }) as unknown as InputElement;

/** A text with marks that is read on the way. */
export const tell = (text: string): Element => ({ type: 'rich_text', attrs: { text }, children: [] });

/** A picture with what it shows, in words, and a line below it. */
export const show = (image: string, alt: string, caption: string): Element => ({
  type: 'image',
  attrs: { image, alt, caption },
  children: [],
});

/** What is asked in rows, as many as there are. */
export const rows = (
  id: string,
  label: string,
  more: More<Composite['attrs'], 'id' | 'label' | 'repeatable'>,
  ...children: Element[]
): Composite => ({ type: 'composite', attrs: { id, label, repeatable: true, ...more }, children });

export const step = (attrs: Step['attrs'] & object, ...children: Element[]): Step => ({
  type: 'step',
  attrs,
  children,
});

export const form = (attrs: Form['attrs'], ...children: Step[]): Form => ({ type: 'form', attrs, children });
