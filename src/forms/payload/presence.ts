import { type Element, type Form, isComposite, isRepeatable } from '#ast/tree.ts';

type WithLogic = { readonly attrs?: { readonly show_when?: unknown; readonly hide_when?: unknown } };

const hasLogic = ({ attrs }: WithLogic): boolean =>
  attrs?.show_when !== undefined || attrs?.hide_when !== undefined;

/**
 * The elements that every visitor gets to see: nothing shows or hides them, what is around them, or their step, and no
 * earlier step may be left for a later one. Elements of a repeatable composite are seen in every row that there is.
 */
export function alwaysShown(form: Form): ReadonlySet<Element> {
  const shown = new Set<Element>();
  for (const step of form.children) {
    if (!hasLogic(step)) addShown(shown, step.children);
    if (step.attrs?.jumps?.length) break;
  }
  return shown;
}

function addShown(shown: Set<Element>, elements: readonly Element[]): void {
  for (const element of elements) {
    // A row is there at all only while its composite is shown, so that one's conditions say nothing of its cells.
    if (isComposite(element) && (isRepeatable(element) || !hasLogic(element)))
      addShown(shown, element.children);
    if (!hasLogic(element)) shown.add(element);
  }
}
