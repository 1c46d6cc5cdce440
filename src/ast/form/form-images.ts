import type { AttributeSpecs } from '../attributes/attributes.ts';
import type { Option } from '../basics/options.ts';
import { elementDefinitions } from './elements.ts';
import { type Form, walkElements } from './tree.ts';

/** An image that a form uses, with the node and the attribute that refer to it. */
type NamedImage = { readonly id: string; readonly name: string; readonly path: readonly number[] };

/** Lists the workspace images that the elements of a valid form and their options show. */
export function imagesIn(form: Form): NamedImage[] {
  const images: NamedImage[] = [];
  for (const { element, path } of walkElements(form)) {
    // Only the attributes that the type declares. An unknown attribute with such a name is not an image.
    const specs: AttributeSpecs = elementDefinitions[element.type].attrs;
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
