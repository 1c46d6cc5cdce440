import type { Option } from './answers/options.ts';
import type { AttributeSpecs } from './attributes.ts';
import { elements } from './elements.ts';
import { factOf } from './fact-of.ts';
import { type Element, type Form, walkElements } from './tree.ts';

/** An image that a form names: the node that shows it, and the attribute that says so. */
type NamedImage = { readonly id: string; readonly name: string; readonly path: readonly number[] };

/** The images of a workspace that the elements of a valid form show, and their options. */
export const imagesIn = factOf((form: Form): readonly NamedImage[] =>
  [...walkElements(form)].flatMap(({ element, path }) =>
    imagesOf(element).map(([name, id]) => ({ id, name, path })),
  ),
);

/** By the attributes of its type alone: another one of such a name is none of ours. */
function imagesOf({ type, attrs = {} }: Element): [name: string, id: string][] {
  const specs: AttributeSpecs = elements[type].attrs;
  return Object.entries(attrs).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const kind = Object.hasOwn(specs, name) ? specs[name]!.kind : undefined;
    if (kind === 'image') return [[name, value as string]];
    if (kind !== 'options') return [];
    return (value as readonly Option[]).flatMap((option): [string, string][] =>
      typeof option === 'string' || option.image === undefined ? [] : [[name, option.image]],
    );
  });
}
