import { factOf } from '#ast/fact-of.ts';
import type { RawAnswers } from '#ast/fields.ts';
import type { FilesByName } from '#ast/logic/evaluate.ts';
import { limits } from '#ast/limits.ts';
import { pipedIds } from '#ast/piping.ts';
import { countMarkup } from '#ast/markup-characters.ts';
import {
  type Element,
  type Form,
  isComposite,
  isInput,
  isRepeatable,
  matrixRowsOf,
  optionsIn,
} from '#ast/tree.ts';
import { countShownRows } from './elements/rows.ts';

/**
 * What it costs to draw an element, one of its options, a character of its texts, and more for one that HTML has to
 * write otherwise, in the steps of #ast/work.ts.
 */
const steps = { element: 450, option: 200, character: 1.5, escaped: 5 } as const;

/** What the page of a form costs to draw: an element in rows is drawn in each of them. */
export function drawingSteps(form: Form, answers: RawAnswers, held: FilesByName): number {
  const stepsOf = (element: Element): number => {
    const once = ownSteps(element);
    if (!isComposite(element)) return once;
    const rows = isRepeatable(element) ? countShownRows(element, answers, held) : 1;
    return once + rows * sum(element.children);
  };
  const sum = (elements: readonly Element[]): number =>
    elements.reduce((total, element) => total + stepsOf(element), 0);
  return form.children.reduce((total, step) => total + textSteps(step.attrs) + sum(step.children), 0);
}

const ownSteps = factOf((element: Element): number => {
  const rows = isInput(element) ? matrixRowsOf(element).length : 0;
  const options = Math.max(1, rows) * optionsIn(element).size;
  return steps.element + options * steps.option + textSteps(element.attrs);
});

function textSteps(attrs: object = {}): number {
  const text = JSON.stringify(attrs);
  const shown = pipedIds(text).length * limits.pipedCharacters;
  return (text.length + shown) * steps.character + countMarkup(text) * steps.escaped;
}
