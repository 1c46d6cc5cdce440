import type { FormatAnswer } from '#page/markup/html.ts';
import type { FieldMessage, ScriptData } from '#page/render/view.ts';

/** Points of a drawing relative to the pad's width, so that it scales with the pad. */
export type Strokes = (readonly [x: number, y: number])[][];

/** The form's page for the script. All answers are in its controls, as they are without a script. */
export type Page = {
  /**
   * A question's name can shadow a property of the form: with a question named `action`, `form.action` is its
   * control. Read only properties that no question can be named after.
   */
  readonly form: HTMLFormElement;
  readonly data: ScriptData;
  /** The sections of all steps, in order. */
  readonly sections: readonly HTMLElement[];
  /** Announces a text to screen readers without moving the focus. An empty text removes the last one. */
  readonly announce: (text: string) => void;
  /** The index of the visible step. */
  step: number;
  /** Returns the current drawings by field (types/signature.ts): strokes of points. */
  drawn?: () => Readonly<Record<string, Strokes>>;
  /** Set if texts of the form show answers (shown-answers.ts). */
  formatAnswer?: FormatAnswer;
  /**
   * Set if the page asks one question at a time (questions.ts). Moves the focus to the question that all errors
   * are about. Returns false if there are several.
   */
  focusOnlyQuestion?: (errors: readonly FieldMessage[]) => boolean;
  /** Set if the form has a review step (review.ts). */
  review?: {
    /** Opens the question of a field. */
    readonly change: (field: string) => void;
    /** Returns the step for Back and Next while an answer is changed. */
    readonly stepOnReturn: (direction: -1 | 1) => number | undefined;
  };
};

/** Reads the page that the server rendered. @throws if it has no data for the script. */
export function readPage(form: HTMLFormElement): Page {
  const data = JSON.parse(byId('_form')!.textContent) as ScriptData;
  const region = makeElement('div', { className: 'unseen' });
  region.setAttribute('aria-live', 'polite');
  form.insertAdjacentElement('afterend', region);
  return {
    form,
    data,
    sections: [...form.querySelectorAll<HTMLElement>('section.step')],
    // A repeated text is announced only if the region was emptied in between.
    announce(text) {
      region.textContent = '';
      setTimeout(() => {
        region.textContent = text;
      }, 50);
    },
    step: data.step,
  };
}

/** Creates an element with properties and children. */
export function makeElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Finds an element by id. Ids of rows contain brackets, which a selector would have to escape. */
export function byId(id: string): HTMLElement | undefined {
  return document.getElementById(id) ?? undefined;
}

/** Finds the box of a field, a row or a group by its HTML name, with its label, errors and controls. */
export function fieldBoxOf(name: string): HTMLElement | undefined {
  return byId(name)?.closest<HTMLElement>('.one_row[id], .field') ?? undefined;
}

/** Labels a button. For screen readers, also adds what its action applies to. */
export function labelButton(button: HTMLElement, text: string, object: string): void {
  button.replaceChildren(text, makeElement('span', { className: 'unseen' }, ` ${object}`));
}
