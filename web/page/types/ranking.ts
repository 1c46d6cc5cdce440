import { fillTemplate } from '#ast/basics/words.ts';
import { moveControl, parseMove } from '#page/render/elements/ranking-moves.ts';
import type { Page } from '../page.ts';

/**
 * Lets visitors rank options without a page load: by dragging, with the buttons of each option, and with
 * arrow keys on them. The order of the list is the answer.
 */
export function startOnPage(page: Page): void {
  const { form } = page;
  for (const list of form.querySelectorAll<HTMLElement>('.ranks')) restore(list);
  form.addEventListener(
    'submit',
    (event) => {
      const button = event.submitter;
      if (!(button instanceof HTMLButtonElement) || button.name !== moveControl) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      press(page, button);
    },
    true,
  );
  form.addEventListener('keydown', (event) => {
    const item = itemOf(event);
    if (!item || !Object.hasOwn(distances, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    move(page, item, distances[event.key as keyof typeof distances]);
  });
  form.addEventListener('pointerdown', (event) => drag(page, event));
}

const distances = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity } as const;

const itemOf = ({ target }: Event): HTMLElement | undefined =>
  (target as Element).closest<HTMLElement>('.ranks > .option') ?? undefined;
const itemsOf = (list: Element): HTMLElement[] => [...list.querySelectorAll<HTMLElement>(':scope > .option')];
const controlOf = (item: Element): HTMLInputElement => item.querySelector('input')!;

/** Puts the options in the order of answers that were restored after a reload. */
function restore(list: HTMLElement): void {
  const items = itemsOf(list);
  const order = items.map((item) => controlOf(item).value);
  if (order.includes('')) return;
  const placeOf = ({ dataset }: HTMLElement): number => order.indexOf(dataset['option']!);
  list.append(...items.toSorted((a, b) => placeOf(a) - placeOf(b)));
  accept(list);
}

/** Makes the shown order the answer. */
function accept(list: Element): void {
  for (const item of itemsOf(list)) controlOf(item).value = item.dataset['option']!;
}

function change(list: Element): void {
  controlOf(list).dispatchEvent(new Event('input', { bubbles: true }));
}

function press(page: Page, button: HTMLButtonElement): void {
  const to = parseMove(button.value)?.to;
  const item = button.closest<HTMLElement>('.ranks > .option');
  if (item) return move(page, item, to === 'up' ? -1 : 1);
  const list = button.closest('.field')!.querySelector('.ranks')!;
  if (to === 'use') accept(list);
  else for (const each of itemsOf(list)) controlOf(each).value = '';
  change(list);
  // The button is hidden now.
  list.querySelector('button')!.focus();
  page.announce(to === 'use' ? describe(itemsOf(list)[0]!) : page.data.words.noAnswer);
}

/** Moves an option by some places. Its neighbors are moved around it, so that it keeps the focus. */
function move(page: Page, item: HTMLElement, distance: number): void {
  const list = item.parentElement!;
  const items = itemsOf(list);
  const from = items.indexOf(item);
  const to = Math.max(0, Math.min(items.length - 1, from + distance));
  if (to < from) item.after(...items.slice(to, from));
  else item.before(...items.slice(from + 1, to + 1));
  accept(list);
  change(list);
  item.scrollIntoView({ block: 'nearest' });
  page.announce(describe(item));
}

/** Describes the rank of an option: "Blue: 2 of 4". */
function describe(item: HTMLElement): string {
  const list = item.parentElement!;
  const items = itemsOf(list);
  const option = item.querySelector(':scope > span')!.textContent;
  return fillTemplate(list.dataset['ranked']!, {
    option,
    number: items.indexOf(item) + 1,
    total: items.length,
  });
}

/** Distance in px after which a press becomes a drag. */
const slop = 4;
/** Height in px of the zones at the top and bottom of the window where a drag scrolls. */
const edge = 48;

function drag(page: Page, event: PointerEvent): void {
  const item = itemOf(event);
  const target = event.target as Element;
  if (!item || !event.isPrimary || event.button !== 0 || target.closest('button')) return;
  // A touch beside the handle scrolls the page.
  if (event.pointerType === 'touch' && !target.closest('svg')) return;
  const list = item.parentElement!;
  const before = itemsOf(list);
  let [start, isDragged] = [event.pageY, false];
  item.setPointerCapture(event.pointerId);
  const follow = ({ pageY, clientY }: PointerEvent): void => {
    isDragged ||= Math.abs(pageY - start) > slop;
    if (!isDragged) return;
    item.classList.add('dragged');
    const top = item.offsetTop;
    const [middle, previous, next] = [
      top + pageY - start + item.offsetHeight / 2,
      item.previousElementSibling as HTMLElement | null,
      item.nextElementSibling as HTMLElement | null,
    ];
    if (previous && middle < previous.offsetTop + previous.offsetHeight / 2) pass(item, previous, 'after');
    else if (next && middle > next.offsetTop + next.offsetHeight / 2) pass(item, next, 'before');
    start += item.offsetTop - top;
    item.style.translate = `0 ${pageY - start}px`;
    if (clientY < edge) scrollBy(0, -8);
    else if (clientY > innerHeight - edge) scrollBy(0, 8);
  };
  const end = (isKept: boolean) => (): void => {
    stop.abort();
    item.classList.remove('dragged');
    item.style.translate = '';
    if (!isDragged) return;
    if (isKept) move(page, item, 0);
    else list.append(...before);
  };
  const stop = new AbortController();
  const { signal } = stop;
  item.addEventListener('pointermove', follow, { signal });
  item.addEventListener('pointerup', end(true), { signal });
  item.addEventListener('pointercancel', end(false), { signal });
  addEventListener('keydown', ({ key }) => key === 'Escape' && end(false)(), { signal });
}

/** Moves a neighbor to the other side of the dragged option, which stays in the document for its pointer. */
function pass(item: HTMLElement, other: HTMLElement, side: 'before' | 'after'): void {
  const top = other.offsetTop;
  item[side](other);
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  other.animate([{ translate: `0 ${top - other.offsetTop}px` }, { translate: '0' }], 120);
}
