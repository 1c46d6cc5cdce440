import { createHash } from 'node:crypto';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { pipedIds } from '#ast/form/piping.ts';
import { type Element, type Form, isComposite, isQuestion, type Step, walkElements } from '#ast/form/tree.ts';

type Shuffled = { readonly shuffle?: boolean; readonly options?: readonly unknown[] };

const isShuffled = ({ attrs }: Element | Step): boolean => (attrs as Shuffled | undefined)?.shuffle === true;

/** Returns whether a form shows questions or options in a different order to each visitor. */
export const shufflesForVisitors = memoizeByObject(
  (form: Form): boolean =>
    form.children.some(isShuffled) || [...walkElements(form)].some(({ element }) => isShuffled(element)),
);

/**
 * Returns the form in a visitor's order: the options of questions with `shuffle`, and the questions of steps
 * with `shuffle`. Texts between questions keep their places. The answers do not depend on the order.
 * @param seed equal seeds give equal orders.
 */
export function shuffleForm(form: Form, seed: string): Form {
  const shuffleElement = (element: Element): Element => {
    if (isComposite(element)) return { ...element, children: element.children.map(shuffleElement) };
    const { options } = (element.attrs ?? {}) as Shuffled;
    if (!options || !isShuffled(element)) return element;
    const attrs = { ...element.attrs, options: shuffle(options, `${seed} ${element.attrs?.id}`) };
    return { ...element, attrs } as Element;
  };
  const children = form.children.map((step, index) => {
    const elements = step.children.map(shuffleElement);
    if (!isShuffled(step)) return { ...step, children: elements };
    const questions = shuffleQuestions(elements.filter(isQuestion), `${seed} #${index}`);
    return { ...step, children: elements.map((each) => (isQuestion(each) ? questions.shift()! : each)) };
  });
  return { ...form, children };
}

/**
 * Returns questions in an order that only the seed decides. Each question comes after the earlier ones that its
 * conditions and texts use, because a visitor who is asked one question at a time does not go back.
 */
function shuffleQuestions(questions: readonly Element[], seed: string): Element[] {
  const places = new Map(questions.flatMap((each, index) => idsIn(each).map((id) => [id, index])));
  const placed = new Set<Element>();
  const place = (question: Element, index: number): void => {
    if (placed.has(question)) return;
    for (const id of listUsedIds(question)) {
      const earlier = places.get(id) ?? index;
      if (earlier < index) place(questions[earlier]!, earlier);
    }
    placed.add(question);
  };
  for (const question of shuffle(questions, seed)) place(question, questions.indexOf(question));
  return [...placed];
}

const idsIn = (element: Element): string[] => [
  element.attrs?.id ?? '',
  ...(isComposite(element) ? element.children.flatMap(idsIn) : []),
];

/** Lists the questions that the conditions and texts of an element name. */
function listUsedIds(element: Element): string[] {
  const ids: string[] = [];
  const text = JSON.stringify(element, (key, value: unknown) => {
    // The two questions of a comparison. `other` of a choice is a boolean.
    if ((key === 'element' || key === 'other') && typeof value === 'string') ids.push(value);
    return value;
  });
  return [...ids, ...pipedIds(text)];
}

/** Returns the items in an order that only the seed decides. */
function shuffle<Item>(items: readonly Item[], seed: string): Item[] {
  const bytes = createHash('shake256', { outputLength: 4 * items.length })
    .update(seed)
    .digest();
  return items
    .map((item, index) => ({ item, place: bytes.readUInt32BE(4 * index) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
