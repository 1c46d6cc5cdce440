import { getProperty, isRecord } from '#ast/basics/json.ts';
import { isBlank } from '#ast/basics/text.ts';
import { hasConditionalOptions, isOptionOffered } from '#ast/form/conditional-options.ts';
import { fieldName, type GroupRow, type RawAnswers, rawAnswersOfRow } from '#ast/form/fields.ts';
import {
  type Composite,
  type Element,
  type Form,
  type InputElement,
  isComposite,
  isInput,
  isRepeatable,
  isVisibleToVisitors,
  optionsOf,
  walkElements,
} from '#ast/form/tree.ts';
import type { FilesByName, VisibleParts } from '#ast/logic/evaluate.ts';
import { countShownRows } from './rows.ts';

/** Returns the paths (`0.2`) of elements that have conditions, or options with conditions. */
export function conditionalPaths(form: Form): Map<Element, string> {
  const paths = new Map<Element, string>();
  for (const { element, path } of walkElements(form)) {
    const { show_when: show, hide_when: hide } = element.attrs ?? {};
    if (isVisibleToVisitors(element) && (show ?? hide ?? hasConditionalOptions(element)))
      paths.set(element, path.join('.'));
  }
  return paths;
}

/** The answers and files that decide how many rows a group shows. */
export type PostedAnswers = { readonly answers: RawAnswers; readonly files: FilesByName };

/** An element of a step as the page shows it: once, or once per row. */
type OnPage = { readonly element: Element; readonly row?: GroupRow };

function* onPage(
  elements: readonly Element[],
  posted: PostedAnswers,
  row?: GroupRow,
): Generator<OnPage, void> {
  for (const element of elements) {
    yield { element, ...(row && { row }) };
    if (!isComposite(element)) continue;
    if (isRepeatable(element)) yield* rowsOnPage(element, posted);
    else yield* onPage(element.children, posted, row);
  }
}

function* rowsOnPage(group: Composite, posted: PostedAnswers): Generator<OnPage, void> {
  const total = countShownRows(group, posted.answers, posted.files);
  for (let index = 0; index < total; index += 1) yield* onPage(group.children, posted, { group, index });
}

/**
 * Returns marks of what a step shows because of conditions, with the HTML names of the inputs. The mark of an
 * element is `0.2`, or `0.2@1` in a row; that of the options offered for an unanswered question is `0.2:1f`.
 * The page posts the marks that it showed (`_seen`), so that the server knows what an answer has made appear.
 */
export function listConditionalMarks(
  form: Form,
  step: number,
  shown: VisibleParts,
  posted: PostedAnswers,
): Map<string, readonly string[]> {
  const paths = conditionalPaths(form);
  const marks = new Map<string, readonly string[]>();
  if (paths.size === 0) return marks;
  for (const { element, row } of onPage(form.children[step]?.children ?? [], posted)) {
    const path = paths.get(element);
    if (path === undefined || !shown.isShown(element, row)) continue;
    const at = row ? `@${row.index}` : '';
    marks.set(`${path}${at}`, namesIn({ element, ...(row && { row }) }, posted));
    if (!isInput(element) || !hasConditionalOptions(element)) continue;
    const holder = row ? rawAnswersOfRow(posted.answers, row) : posted.answers;
    const isOpen = !isRecord(holder) || isBlank(getProperty(holder, element.attrs.id));
    // New options matter only while the question is unanswered.
    if (isOpen) marks.set(`${path}:${offerMark(element, shown, row)}${at}`, [fieldName(element, row)]);
  }
  return marks;
}

/** Returns a hash of the offered options: there may be hundreds of them in every row. */
function offerMark(input: InputElement, shown: VisibleParts, row: GroupRow | undefined): string {
  const sum = optionsOf(input).reduce(
    (number, { id }) =>
      (number * 31 + Number(isOptionOffered(input, id, shown.holds, row)) + 1) % 0xffff_fffb,
    0,
  );
  return sum.toString(36);
}

/** The HTML names of the inputs in an element. */
function namesIn({ element, row }: OnPage, posted: PostedAnswers): string[] {
  if (isInput(element)) return [fieldName(element, row)];
  if (!isComposite(element)) return [];
  const inside = isRepeatable(element) ? rowsOnPage(element, posted) : onPage(element.children, posted, row);
  return [...inside].flatMap((each) => (isInput(each.element) ? [fieldName(each.element, each.row)] : []));
}
