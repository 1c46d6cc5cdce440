import {
  type Form,
  type Element as FormElement,
  isCalculation,
  isQuestion,
  isVisibleToVisitors,
  type Step,
} from '#ast/form/tree.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/colour.ts';
import { html, htmlToString, renderPiped } from '#page/markup/html.ts';
import type { ElementContext } from '#page/render/elements/element-context.ts';
import { renderElement } from '#page/render/elements/element-renderers.ts';
import { renderForm } from '#page/render/form.ts';
import { arrangeSteps } from '#page/render/steps.ts';
import { everythingShown } from '#page/render/view.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import type { PageStyle } from '#page/theme/page-style.ts';
import { pipedLabelOf } from '../../conditions/condition-tree.ts';
import { type PageTexts, parsePage } from '../../design/page-document.ts';
import { getFileLimits } from '../../shell/session.ts';
import { type EditNode, type NodeKey, walkNodes } from '../model/edit-node.ts';
import { drawableElement, drawableFrame } from '../model/form-problems.ts';
import { type Box, canContain, type DropZone } from '../model/node-positions.ts';
import { showsAnswers } from '../model/referable-nodes.ts';

/** Matches the container of the children of a step or a composite. */
export const slotSelector = ':is(.stack, .row, .grid_2, .grid_3, .grid_4)';

// The canvas ignores conditions and shows everything, so nothing on it depends on the date.
const today = todayIn('UTC', new Date());

/** What all pages of a form share on the canvas: theme, texts and layout. */
export type CanvasPageContext = {
  readonly formId: string;
  readonly look: PageStyle;
  readonly scheme: Scheme;
  readonly texts: PageTexts;
  readonly settings: Pick<Settings, 'layout' | 'review_step' | 'save_progress' | 'theme'>;
  /** The labels of the questions whose answers texts show, by ID. */
  readonly labels: ReadonlyMap<string, string>;
};

const emptyPage = { today, errors: [], files: new Map() } as const;

/** On the canvas, a reference to an answer shows the label of its question. */
const labelIn =
  ({ labels }: CanvasPageContext) =>
  (id: string): string =>
    labels.get(id) ?? pipedLabelOf(id, undefined);

const renderContext = (
  manner: CanvasPageContext,
  headingTag: ElementContext['headingTag'],
): ElementContext => ({
  page: {
    ...emptyPage,
    limits: getFileLimits(),
    ...manner.texts,
    say: labelIn(manner),
    shown: everythingShown([]),
    conditional: new Map(),
    errors: new Map(),
    focus: undefined,
    pictureOf: (id) => ({ address: id && imageAddress(manner.formId, id) }),
  },
  answers: {},
  headingTag,
});

/** A parsed node of the page. It is only copied from, never inserted into a document. */
export type Markup = Element;

function parse(markup: string): Markup {
  const template = document.createElement('template');
  template.innerHTML = markup;
  return template.content.firstElementChild!;
}

type DrawnNode = { readonly markup: Markup; readonly labels: CanvasPageContext['labels'] };
const drawn = new WeakMap<PageTexts, Record<ElementContext['headingTag'], WeakMap<EditNode, DrawnNode>>>();

/**
 * Renders an element with the page renderer, without the children of a composite. An unknown type is shown as
 * a note.
 */
export function elementMarkup(
  node: EditNode,
  headingTag: ElementContext['headingTag'],
  manner: CanvasPageContext,
): Markup {
  const drawnNodes = drawn.get(manner.texts) ?? { h2: new WeakMap(), h3: new WeakMap() };
  drawn.set(manner.texts, drawnNodes);
  const known = drawnNodes[headingTag].get(node);
  if (known && (known.labels === manner.labels || !showsAnswers(node))) return known.markup;
  const element = drawableElement(node);
  const markup = element
    ? renderKnownElement(element, renderContext(manner, headingTag))
    : renderUnknownElement(node);
  drawnNodes[headingTag].set(node, { markup, labels: manner.labels });
  return markup;
}

/** Renders an element that visitors do not see as a note under its label, so that it can be selected. */
function renderKnownElement(element: FormElement, place: ElementContext): Markup {
  if (isVisibleToVisitors(element)) return parse(htmlToString(renderElement(element, place)));
  const { id, label } = { id: '', label: '', ...element.attrs };
  return parse(
    htmlToString(
      html`<div class="field labelled not_shown"><label>${renderPiped(label, place.page.say)}</label>\n<div class="help"><p>${element.type === 'score' ? 'Shown after the submission. Adds up the points of right answers.' : html`Not shown to visitors. ${isCalculation(element) ? 'Calculated and saved with the answers.' : html`Filled from the form’s URL: <code>?${id}=…</code>`}`}</p></div></div>`,
    ),
  );
}

function renderUnknownElement(node: EditNode): Markup {
  const note = document.createElement('div');
  note.className = 'field stranger';
  note.textContent = `This version of Formloom does not support the element type “${node.type}”. It is kept unchanged.`;
  return note;
}

/**
 * The parts of a page around the form's elements: images, header, content above the step, the step with an
 * empty slot, buttons.
 */
export type PageMarkup = {
  readonly pictures: readonly Markup[];
  readonly header: Markup;
  readonly before: readonly Markup[];
  readonly step: Markup;
  readonly actions: Markup;
};

const drawnPages = new WeakMap<CanvasPageContext, ReadonlyMap<string, PageMarkup>>();

/**
 * Returns the pages of a form: its steps, then the review page if the form has one. The object of a page
 * stays the same until the page changes.
 */
export function renderFormPages(root: EditNode, manner: CanvasPageContext): readonly PageMarkup[] {
  const { children: steps, ...form } = drawableFrame(root);
  const { words } = manner.texts;
  const { layout, review_step: hasReview } = manner.settings;
  const review = arrangeSteps({ ...form, children: [] }, { review_step: hasReview }, words).children;
  const pageSteps = [...(steps.length > 0 ? steps : [blank]), ...review];
  // If each question is a page, a step is drawn as the page of its last question.
  const counts = pageSteps.map((_, at) => (layout === 'question' ? countQuestions(root.children[at]) : 1));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let number = 0;
  const pages = pageSteps.map((step, at) => {
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

type PagePosition = {
  readonly step: Step;
  readonly number: number;
  readonly total: number;
  readonly isFirst: boolean;
};

/**
 * Renders a page. Other steps matter only for the count, so at most one blank step is rendered before or
 * after it.
 */
function drawPage(
  form: Omit<Form, 'children'>,
  { step, number, total, isFirst }: PagePosition,
  manner: CanvasPageContext,
): PageMarkup {
  const { formId, look, texts, settings } = manner;
  const { languages = [] } = form.attrs;
  const own = isFirst ? 0 : 1;
  const others = total === 1 ? [] : [blank];
  const text = renderForm({
    ...emptyPage,
    limits: getFileLimits(),
    ...texts,
    say: labelIn(manner),
    form: { ...form, children: isFirst ? [step, ...others] : [...others, step] },
    step: own,
    shown: everythingShown(Array.from({ length: total }, (_, at) => own + 1 + at - number)),
    look,
    otherLanguages:
      languages.length > 1 ? { language: texts.language, languages, addressIn: () => '#' } : undefined,
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

/** Converts attributes of a parsed node to React props. A control keeps the value that was entered. */
export function toReactAttributes(element: Element): Record<string, string | boolean> {
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

/** Finds the HTML element of a node on the canvas. */
export function findNodeElement(host: HTMLElement | null, key: NodeKey): HTMLElement | null {
  return host?.shadowRoot?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? null;
}

const besides = { ltr: 'right', rtl: 'left' } as const;

/** Measures every step and composite that can accept the nodes, with its children. */
export function measureZones(host: HTMLElement, root: EditNode, nodes: readonly EditNode[]): DropZone[] {
  const zones: DropZone[] = [];
  const drawn = elementsByKey(host);
  const moving = new Set(nodes.flatMap((node) => [...walkNodes(node)]).map(({ key }) => key));
  for (const parent of walkNodes(root)) {
    if (parent.type !== 'step' && parent.type !== 'composite') continue;
    if (moving.has(parent.key) || !nodes.every((node) => canContain(root, parent.key, node))) continue;
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
 * Measures the zone for steps in a container that shows all steps by key: the canvas or the list of steps.
 * Returns no zone if a step is not rendered.
 */
export function measureStepZones(place: ParentNode | null, root: EditNode): DropZone[] {
  const items = root.children.flatMap(
    ({ key }) => place?.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect() ?? [],
  );
  const [first] = items;
  if (!first || items.length < root.children.length) return [];
  const box = { left: first.left, right: first.right, top: first.top, bottom: items.at(-1)!.bottom };
  return [{ key: root.key, box, flow: 'down', items }];
}

/** Measures each step in the list as a zone without items. A drop adds to the end of the step. */
export function measureStepsAsZones(
  place: ParentNode,
  root: EditNode,
  nodes: readonly EditNode[],
): DropZone[] {
  return root.children.flatMap((step): DropZone[] => {
    const box = place.querySelector(`[data-key="${step.key}"]`)?.getBoundingClientRect();
    const mayTake = nodes.every((node) => canContain(root, step.key, node));
    return box && mayTake ? [{ key: step.key, box, flow: 'down', items: [], end: step.children.length }] : [];
  });
}

type Drawn = ReadonlyMap<NodeKey, HTMLElement>;

/**
 * Finds all elements with one query. Separate queries for 200 elements would search the whole form 200 times.
 */
export function elementsByKey(host: HTMLElement): Drawn {
  const found = host.shadowRoot?.querySelectorAll<HTMLElement>('[data-key]') ?? [];
  return new Map([...found].map((element) => [element.dataset['key']!, element]));
}

function itemsOf(drawn: Drawn, parent: EditNode): Box[] {
  return parent.children.flatMap(({ key }) => drawn.get(key)?.getBoundingClientRect() ?? []);
}

/** Whether two neighbors are side by side at the canvas width. A single child follows its layout. */
function isSideBySide(drawn: Drawn, parent: EditNode): boolean {
  const layout = parent.attrs['layout'];
  if (layout === undefined || layout === 'stack') return false;
  const boxes = itemsOf(drawn, parent);
  return boxes.length < 2 || boxes.some((box, index) => index > 0 && box.top < boxes[index - 1]!.bottom);
}
