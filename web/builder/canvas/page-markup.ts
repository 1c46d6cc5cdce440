import {
  type Form,
  type Element as FormElement,
  isCalculation,
  isQuestion,
  isSeen,
  type Step,
} from '#ast/form/tree.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/colour.ts';
import { html, toText } from '#page/markup/html.ts';
import { renderElement } from '#page/render/elements/drawings.ts';
import type { Place } from '#page/render/elements/place.ts';
import { renderForm } from '#page/render/form.ts';
import { askedForm } from '#page/render/steps.ts';
import { everythingShown } from '#page/render/view.ts';
import { imageAddress, type Look } from '#page/theme/look.ts';
import { type Box, mayHold, type Zone } from '../model/drop-place.ts';
import { type EditNode, type NodeKey, walkNodes } from '../model/edit-node.ts';
import { drawableElement, drawableFrame } from '../model/say-problem.ts';
import type { Speech } from './speech.ts';

/**
 * A whole page of the page renderer as a document to copy from. Without its style sheets: the console's content policy
 * refuses inline styles, and whoever shows the page brings the same ones as constructed sheets.
 */
export function parsePage(text: string): Document {
  return new DOMParser().parseFromString(text.replaceAll(/<style>[^]*?<\/style>/g, ''), 'text/html');
}

/** What one file element takes on the public page; the server's figures (docs/rules.md 13). */
export const fileLimits = { fileBytes: 10 * 1024 * 1024, filesPerElement: 10 } as const;

/** Where the children of a step or a composite stand in its markup. */
export const slotSelector = ':is(.stack, .row, .grid_2, .grid_3, .grid_4)';

// The canvas shows everything, whatever answers would show and hide; nothing on it depends on the day.
const today = todayIn('UTC', new Date());

/** What all pages of a form share on the canvas: how they look, speak and ask. */
export type Manner = {
  readonly formId: string;
  readonly look: Look;
  readonly scheme: Scheme;
  readonly speech: Speech;
  readonly settings: Pick<Settings, 'layout' | 'review_step' | 'save_progress' | 'theme'>;
};

const emptyPage = {
  /** On the canvas a text that shows an answer names its question. */
  say: (id: string): string => id,
  today,
  errors: [],
  held: new Map(),
  limits: fileLimits,
} as const;

const placeOf = ({ formId, speech }: Manner, headingTag: Place['headingTag']): Place => ({
  page: {
    ...emptyPage,
    ...speech,
    shown: everythingShown([]),
    conditional: new Map(),
    errors: new Map(),
    focus: undefined,
    pictureOf: (id) => ({ address: id && imageAddress(formId, id) }),
  },
  answers: {},
  headingTag,
});

/** A parsed node of the page: never put into a document itself, only copied from. */
export type Markup = Element;

function parse(markup: string): Markup {
  const template = document.createElement('template');
  template.innerHTML = markup;
  return template.content.firstElementChild!;
}

const drawn = new WeakMap<Speech, Record<Place['headingTag'], WeakMap<EditNode, Markup>>>();

/**
 * An element as the public page draws it, by the page's own renderer; a composite without its children. A type that
 * the page does not know is drawn as a note that says so.
 */
export function elementMarkup(node: EditNode, headingTag: Place['headingTag'], manner: Manner): Markup {
  const bySpeech = drawn.get(manner.speech) ?? { h2: new WeakMap(), h3: new WeakMap() };
  drawn.set(manner.speech, bySpeech);
  const known = bySpeech[headingTag].get(node);
  if (known) return known;
  const element = drawableElement(node);
  const made = element ? knownMarkup(element, placeOf(manner, headingTag)) : strangerMarkup(node);
  bySpeech[headingTag].set(node, made);
  return made;
}

/** What a visitor does not see is a note here, under its label: it can be selected all the same. */
function knownMarkup(element: FormElement, place: Place): Markup {
  if (isSeen(element)) return parse(toText(renderElement(element, place)));
  const { id, label } = { id: '', label: '', ...element.attrs };
  return parse(
    toText(html`<div class="field labelled not_shown"><label>${label}</label>
<div class="help"><p>Not shown. ${isCalculation(element) ? 'It is worked out, and kept with the answers.' : html`It is what the form’s address says: <code>?${id}=…</code>`}</p></div></div>`),
  );
}

function strangerMarkup(node: EditNode): Markup {
  const note = document.createElement('div');
  note.className = 'field stranger';
  note.textContent = `This version does not know the element type “${node.type}”. It stays as it is.`;
  return note;
}

/** One page of a form around its elements: pictures, header, what stands before the step, the step with its empty place, buttons. */
export type PageMarkup = {
  readonly pictures: readonly Markup[];
  readonly header: Markup;
  readonly before: readonly Markup[];
  readonly step: Markup;
  readonly actions: Markup;
};

const drawnPages = new WeakMap<Manner, ReadonlyMap<string, PageMarkup>>();

/**
 * The pages of a form: each step is one, and behind them the list of answers where the form has it. A page is the same
 * object as long as nothing on it changed.
 */
export function pagesOf(root: EditNode, manner: Manner): readonly PageMarkup[] {
  const { children: steps, ...form } = drawableFrame(root);
  const { words } = manner.speech;
  const { layout, review_step: hasReview } = manner.settings;
  const review = askedForm({ ...form, children: [] }, { review_step: hasReview }, words).children;
  const asked = [...(steps.length > 0 ? steps : [blank]), ...review];
  // Where each question is a page, what is drawn of a step is the page of its last one.
  const counts = asked.map((_, at) => (layout === 'question' ? countQuestions(root.children[at]) : 1));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let number = 0;
  const pages = asked.map((step, at) => {
    number += counts[at]!;
    const place = { step, number, total, isFirst: at === 0 };
    const key = JSON.stringify([form, place]);
    return [key, drawnPages.get(manner)?.get(key) ?? drawPage(form, place, manner)] as const;
  });
  drawnPages.set(manner, new Map(pages));
  return pages.map(([, markup]) => markup);
}

const countQuestions = (step: EditNode | undefined): number =>
  Math.max(
    1,
    step?.children.map(drawableElement).filter((element) => element && isQuestion(element)).length ?? 0,
  );

const blank: Step = { type: 'step', children: [] };

type PagePlace = {
  readonly step: Step;
  readonly number: number;
  readonly total: number;
  readonly isFirst: boolean;
};

/** Of all other steps there is at most one, before it or behind it: what else there is only counts. */
function drawPage(
  form: Omit<Form, 'children'>,
  { step, number, total, isFirst }: PagePlace,
  { formId, look, speech, settings }: Manner,
): PageMarkup {
  const { languages = [] } = form.attrs;
  const own = isFirst ? 0 : 1;
  const others = total === 1 ? [] : [blank];
  const text = renderForm({
    ...emptyPage,
    ...speech,
    form: { ...form, children: isFirst ? [step, ...others] : [...others, step] },
    step: own,
    shown: everythingShown(Array.from({ length: total }, (_, at) => own + 1 + at - number)),
    look,
    otherLanguages:
      languages.length > 1 ? { language: speech.language, languages, addressIn: () => '#' } : undefined,
    asksSingly: settings.layout === 'question',
    saves: settings.save_progress,
    submitText: settings.theme?.submit_label,
    pictureOf: (id) => ({ address: imageAddress(formId, id) }),
    action: '#',
    values: {},
  });
  const main = parsePage(text).querySelector('main')!;
  return {
    pictures: [...main.querySelectorAll(':scope > picture')],
    header: main.querySelector('header')!,
    before: [...main.querySelectorAll('form > :is(.languages, .progress)')],
    step: main.querySelector('section:not([hidden])')!,
    actions: main.querySelector('.actions')!,
  };
}

/** The attributes of a parsed node as React writes them; a control keeps what was put into it. */
export function reactAttributes(element: Element): Record<string, string | boolean> {
  const renamed: Readonly<Record<string, string>> = {
    class: 'className',
    for: 'htmlFor',
    value: 'defaultValue',
    checked: 'defaultChecked',
  };
  const left = new Set(['tabindex', 'autofocus', 'aria-labelledby', 'aria-describedby', 'name']);
  return Object.fromEntries(
    [...element.attributes]
      .filter(({ name }) => !left.has(name))
      .map(({ name, value }) => [renamed[name] ?? name, value]),
  );
}

/** The element of a node on the canvas. */
export function elementOf(host: HTMLElement | null, key: NodeKey): HTMLElement | null {
  return host?.shadowRoot?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? null;
}

const besides = { ltr: 'right', rtl: 'left' } as const;

/** Everything that could take the nodes, measured: steps and composites with what they hold. */
export function measureZones(host: HTMLElement, root: EditNode, nodes: readonly EditNode[]): Zone[] {
  const zones: Zone[] = [];
  const drawn = elementsByKey(host);
  const moving = new Set(nodes.flatMap((node) => [...walkNodes(node)]).map(({ key }) => key));
  for (const parent of walkNodes(root)) {
    if (parent.type !== 'step' && parent.type !== 'composite') continue;
    if (moving.has(parent.key) || !nodes.every((node) => mayHold(root, parent.key, node))) continue;
    const element = drawn.get(parent.key);
    if (!element) continue;
    zones.push({
      key: parent.key,
      box: element.getBoundingClientRect(),
      flow: isSideBySide(drawn, parent)
        ? besides[getComputedStyle(element).direction as 'ltr' | 'rtl']
        : 'down',
      items: itemsOf(drawn, parent),
    });
  }
  return zones;
}

/**
 * The one zone for steps, measured in the canvas or in the list of steps: whatever shows all of them, each under its
 * key. None while one of them is not drawn.
 */
export function measureStepZones(place: ParentNode | null, root: EditNode): Zone[] {
  const items = root.children.flatMap(
    ({ key }) => place?.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect() ?? [],
  );
  const [first] = items;
  if (!first || items.length < root.children.length) return [];
  const box = { left: first.left, right: first.right, top: first.top, bottom: items.at(-1)!.bottom };
  return [{ key: root.key, box, flow: 'down', items }];
}

/** Each step of the list as a zone without items: what is dropped on it goes to its end. */
export function measureStepItems(place: ParentNode, root: EditNode, nodes: readonly EditNode[]): Zone[] {
  return root.children.flatMap((step): Zone[] => {
    const box = place.querySelector(`[data-key="${step.key}"]`)?.getBoundingClientRect();
    const mayTake = nodes.every((node) => mayHold(root, step.key, node));
    return box && mayTake ? [{ key: step.key, box, flow: 'down', items: [], end: step.children.length }] : [];
  });
}

type Drawn = ReadonlyMap<NodeKey, HTMLElement>;

/** All elements at once: to look for each of 200 alone would go through the whole form 200 times. */
export function elementsByKey(host: HTMLElement): Drawn {
  const found = host.shadowRoot?.querySelectorAll<HTMLElement>('[data-key]') ?? [];
  return new Map([...found].map((element) => [element.dataset['key']!, element]));
}

function itemsOf(drawn: Drawn, parent: EditNode): Box[] {
  return parent.children.flatMap(({ key }) => drawn.get(key)?.getBoundingClientRect() ?? []);
}

/** Whether two neighbours stand side by side at the canvas's width; one alone counts by its layout. */
function isSideBySide(drawn: Drawn, parent: EditNode): boolean {
  const layout = parent.attrs['layout'];
  if (layout === undefined || layout === 'stack') return false;
  const boxes = itemsOf(drawn, parent);
  return boxes.length < 2 || boxes.some((box, index) => index > 0 && box.top < boxes[index - 1]!.bottom);
}
