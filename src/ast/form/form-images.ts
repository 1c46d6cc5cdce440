import type { AttributeSpecs } from '../attributes/attributes.ts';
import type { Option } from '../basics/options.ts';
import { elements } from './elements.ts';
import { type Form, walkElements } from './tree.ts';

/** An image that a form names: the node that shows it, and the attribute that says so. */
type NamedImage = { readonly id: string; readonly name: string; readonly path: readonly number[] };

/** The images of a workspace that the elements of a valid form show, and their options. */
export function imagesIn(form: Form): NamedImage[] {
  const images: NamedImage[] = [];
  for (const { element, path } of walkElements(form)) {
    // By the attributes of its type alone: another one of such a name is none of ours.
    const specs: AttributeSpecs = elements[element.type].attrs;
    for (const [name, value] of Object.entries<unknown>(element.attrs ?? {})) {
      const kind = Object.hasOwn(specs, name) ? specs[name]!.kind : undefined;
      if (kind === 'image') images.push({ id: value as string, name, path });
      if (kind !== 'options') continue;
      for (const option of value as readonly Option[])
        if (typeof option !== 'string' && option.image !== undefined)
          images.push({ id: option.image, name, path });
    }
  }
  return images;
}
