import type { GroupRow } from '#ast/form/fields.ts';
import { formIndexOf } from '#ast/form/form-index.ts';
import {
  type Composite,
  type Element,
  isComposite,
  isInput,
  isRepeatable,
  isVisibleToVisitors,
} from '#ast/form/tree.ts';
import type { VisibleParts } from '#ast/logic/evaluate.ts';
import { evaluatePage } from './answers.ts';
import type { Page } from './page.ts';
import { rowsOf } from './rows.ts';

/** Shows, hides and marks elements by the form's conditions, and returns the result. */
export function applyVisibility(page: Page): VisibleParts {
  const shown = evaluatePage(page);
  const { form } = page.data;
  if (formIndexOf(form).hasLogic)
    for (const [index, { children }] of form.children.entries())
      showChildren(shown, children, page.sections[index]!);
  return shown;
}

/** Relies on there being one box per element, in the order of the elements, inside the layout's box. */
function showChildren(
  shown: VisibleParts,
  elements: readonly Element[],
  parent: HTMLElement,
  row?: GroupRow,
): void {
  const layout = parent.querySelector(':scope > :is(.stack, .row, .grid_2, .grid_3, .grid_4)');
  for (const [index, element] of elements.entries()) {
    const box = layout?.children[index];
    if (box instanceof HTMLElement) showElement(shown, element, box, row);
  }
}

function showElement(shown: VisibleParts, element: Element, box: HTMLElement, row?: GroupRow): void {
  box.hidden = !isVisibleToVisitors(element) || !shown.isShown(element, row);
  if (isComposite(element)) showComposite(shown, element, box, row);
  else if (isInput(element)) {
    const mark = box.querySelector<HTMLElement>('.mark');
    if (mark) mark.hidden = !shown.isRequired(element, row);
  }
}

function showComposite(shown: VisibleParts, composite: Composite, box: HTMLElement, row?: GroupRow): void {
  if (!isRepeatable(composite)) return showChildren(shown, composite.children, box, row);
  for (const [index, inner] of rowsOf(composite.attrs.id).entries())
    showChildren(shown, composite.children, inner, { group: composite, index });
}
