import type { Words } from '../words/words.ts';
import { attributes, type Html, html } from './html.ts';

/** Which of the page's buttons can be pressed now. `submit` is what the last one says. */
export type Buttons = {
  readonly words: Words;
  readonly hasBack: boolean;
  readonly isLast: boolean;
  /** Whether the form has steps at all. */
  readonly hasSteps: boolean;
  readonly saves: boolean;
  readonly submit: string;
};

/**
 * The buttons below the step: plain form posts, told apart by `_go`. All of a form with steps are there, and those
 * that make no sense now are hidden, so that the script only shows and hides them.
 */
export function buttons({ words, hasBack, isLast, hasSteps, saves, submit }: Buttons): Html {
  const button = (go: string, className: string, text: string, isHidden: boolean): Html =>
    html`<button${attributes({ type: 'submit', name: '_go', value: go, class: className, hidden: isHidden })}>${text}</button>`;
  return html`<div class="actions">
${hasSteps && button('back', 'back', words.back, !hasBack)}
${hasSteps && button('next', 'next', words.next, isLast)}
${button('submit', 'submit', submit, !isLast)}
${saves && button('save', 'save', words.save, false)}
</div>`;
}

/** The Enter key presses the first button of a form, which would be Back, or one of a row's: this one goes on. */
export function enterButton({ words, isLast, submit }: Buttons): Html {
  const go = isLast ? 'submit' : 'next';
  return html`<button type="submit" name="_go" value="${go}" class="unseen" tabindex="-1" aria-hidden="true">${isLast ? submit : words.next}</button>`;
}
