import { todayIn } from '#ast/rules/today.ts';
import { type Element as FormElement, isCalculation, isRequired, isSeen } from '#ast/tree.ts';
import { html, toText } from '#page/render/html.ts';
import { renderElement } from '#page/render/elements/drawings.ts';
import type { Place } from '#page/render/elements/place.ts';
import { renderForm } from '#page/render/form.ts';
import { everythingShown } from '#page/render/everything-shown.ts';
import { imageAddress } from '#page/theme/look.ts';
import { english, englishProblems } from '#page/words/en.ts';
import { drawableElement, drawableFrame } from '../model/drawable.ts';
import type { EditNode } from '../model/edit-node.ts';
import { parsePage } from './parse-page.ts';

/** What one file element takes on the public page; the server's figures (docs/rules.md 13). */
export const fileLimits = { fileBytes: 10 * 1024 * 1024, filesPerElement: 10 } as const;

/** Where the children of a step or a composite stand in its markup. */
export const slotSelector = ':is(.stack, .row, .grid_2, .grid_3, .grid_4)';

// The canvas shows everything, whatever answers would show and hide; nothing on it depends on the day.
const today = todayIn('UTC', new Date());

const inEnglish = { language: 'en', words: english, sentences: englishProblems, numbers: '.,' } as const;
/** On the canvas a text that shows an answer names its question. */
const say = (id: string): string => id;

const emptyPage = {
  ...inEnglish,
  say,
  shown: { steps: [], isShown: () => true, isRequired, holds: () => true, calculated: () => undefined },
  conditional: new Map(),
  today,
  errors: new Map(),
  held: new Map(),
  limits: fileLimits,
  focus: undefined,
} as const;
const pageOf = (formId: string) => ({
  ...emptyPage,
  pictureOf: (id: string) => ({ address: id && imageAddress(formId, id) }),
});

/** A parsed node of the page: never put into a document itself, only copied from. */
export type Markup = Element;

function parse(markup: string): Markup {
  const template = document.createElement('template');
  template.innerHTML = markup;
  return template.content.firstElementChild!;
}

const drawn: Record<'h2' | 'h3', WeakMap<EditNode, Markup>> = { h2: new WeakMap(), h3: new WeakMap() };

/**
 * An element as the public page draws it, by the page's own renderer; a composite without its children. A type that
 * the page does not know is drawn as a note that says so.
 */
export function elementMarkup(node: EditNode, headingTag: Place['headingTag'], formId: string): Markup {
  const known = drawn[headingTag].get(node);
  if (known) return known;
  const element = drawableElement(node);
  const made = element
    ? knownMarkup(element, { page: pageOf(formId), answers: {}, headingTag })
    : strangerMarkup(node);
  drawn[headingTag].set(node, made);
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

/** The page around the elements: its header, its steps with empty places, its button with the room that it keeps. */
type Frame = { readonly header: Markup; readonly steps: readonly Markup[]; readonly actions: Markup };

let lastFrame: { readonly text: string; readonly frame: Frame } | undefined;

/** The frame of a form; the same object as long as nothing in it changed. */
export function frameMarkup(root: EditNode): Frame {
  const form = drawableFrame(root);
  const text = renderForm({
    ...inEnglish,
    say,
    form,
    step: 'all',
    shown: everythingShown(form),
    today,
    action: '#',
    values: {},
    errors: [],
    held: new Map(),
    limits: fileLimits,
  });
  if (lastFrame?.text === text) return lastFrame.frame;
  const page = parsePage(text);
  const frame: Frame = {
    header: page.querySelector('header')!,
    steps: [...page.querySelectorAll('section.step')],
    actions: page.querySelector('.actions')!,
  };
  lastFrame = { text, frame };
  return frame;
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
