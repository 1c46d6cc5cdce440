import type { SayAnswer } from '#page/markup/html.ts';
import type { ScriptData } from '#page/render/view.ts';

/** Points of a drawing as shares of the pad's width, so that they stay where they are when the pad is narrower. */
export type Strokes = (readonly [x: number, y: number])[][];

/** The form's page as the script works on it. All answers are in its controls, as they are without script. */
export type Page = {
  /**
   * A question hides what has its name: of one called `action` or `submit`, `form.action` and `form.submit` are the
   * control. So only properties with names that nobody gives a question are read from it.
   */
  readonly form: HTMLFormElement;
  readonly data: ScriptData;
  /** The sections of all steps, in order. */
  readonly sections: readonly HTMLElement[];
  /** Says something to those who do not see the screen, without moving the focus. */
  readonly announce: (text: string) => void;
  /** The index of the step that is shown. */
  step: number;
  /** What is drawn now, by its field (types/signature.ts): strokes of points. */
  drawn?: () => Readonly<Record<string, Strokes>>;
  /** Of a form whose texts show answers (shown-answers.ts). */
  say?: SayAnswer;
  /** Of a form that lists its answers as its last step (review.ts). */
  review?: {
    /** Leads to the question of a field. */
    readonly change: (field: string) => void;
    /** Where Back and Next lead while an answer is changed. */
    readonly stepOnReturn: (direction: -1 | 1) => number | undefined;
  };
};

/** Reads the page that the server drew. @throws when it carries no data for the script. */
export function readPage(form: HTMLFormElement): Page {
  const data = JSON.parse(byId('_form')!.textContent) as ScriptData;
  const region = make('div', { className: 'unseen' });
  region.setAttribute('aria-live', 'polite');
  form.insertAdjacentElement('afterend', region);
  return {
    form,
    data,
    sections: [...form.querySelectorAll<HTMLElement>('section.step')],
    // A text that is said twice is a change only when the region was empty in between.
    announce(text) {
      region.textContent = '';
      setTimeout(() => {
        region.textContent = text;
      }, 50);
    },
    step: data.step,
  };
}

/** An element with properties and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** The element of an id, which may hold the brackets of a row's name. */
export function byId(id: string): HTMLElement | undefined {
  return document.getElementById(id) ?? undefined;
}

/** The box of a field, a row or a group by its HTML name, with its label, its errors and its controls. */
export function boxOf(name: string): HTMLElement | undefined {
  return byId(name)?.closest<HTMLElement>('.one_row[id], .field') ?? undefined;
}

/** The visitor's words for a button that also names its object to those who do not see where it stands. */
export function labelButton(button: HTMLElement, text: string, object: string): void {
  button.replaceChildren(text, make('span', { className: 'unseen' }, ` ${object}`));
}
