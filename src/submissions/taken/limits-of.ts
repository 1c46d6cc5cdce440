import { elements } from '#ast/elements.ts';
import { factOf } from '#ast/fact-of.ts';
import { optionsOf, type Form, type InputElement, isInput, walkElements } from '#ast/tree.ts';

/** What a form takes once, or so many times: questions whose answers are unique, and options with places. */
export type Limits = {
  /** By element id. */
  readonly elements: ReadonlyMap<string, InputElement>;
  readonly unique: readonly { readonly element: string; readonly ignored: string }[];
  readonly options: readonly {
    readonly element: string;
    readonly option: string;
    readonly label: string;
    readonly capacity: number;
  }[];
};

/** Whether a submit to the form may find that something is taken. */
export function isLimited(form: Form): boolean {
  const { unique, options } = limitsOf(form);
  return unique.length > 0 || options.length > 0;
}

/** What makes no difference between two answers, as a pattern of PostgreSQL; nor do capital letters. */
const ignoredIn = ({ type }: InputElement): string => (type === 'phone' ? '[^0-9+]' : '\\s');

export const limitsOf = factOf((form: Form): Limits => {
  const inputs = [...walkElements(form)].flatMap(({ element }) => (isInput(element) ? [element] : []));
  return {
    elements: new Map(inputs.map((input) => [input.attrs.id, input])),
    unique: inputs
      .filter(({ type, attrs }) => 'unique' in elements[type].attrs && 'unique' in attrs && attrs.unique)
      .map((input) => ({ element: input.attrs.id, ignored: ignoredIn(input) })),
    options: inputs.flatMap((input) =>
      optionsOf(input).flatMap(({ id: option, label, capacity }) =>
        capacity === undefined ? [] : [{ element: input.attrs.id, option, label, capacity }],
      ),
    ),
  };
});
