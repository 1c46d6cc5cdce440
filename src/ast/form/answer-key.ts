import { memoizeByObject } from '../basics/memoize.ts';
import type { Option } from '../basics/options.ts';
import { quizAttributes } from '../types/shared-attributes.ts';
import { elementDefinitions } from './elements.ts';
import { type Element, type Form, type InputElement, isInput, walkElements } from './tree.ts';

/** A question of a quiz: an input with a right answer. */
export type QuizQuestion = InputElement & {
  readonly attrs: { readonly correct: NonNullable<CorrectAnswer>; readonly points?: number };
};
type CorrectAnswer = Extract<InputElement, { type: 'text' }>['attrs']['correct'];

/** Returns whether a question has a right answer. Other types can have unknown attributes of this name. */
export const isQuizQuestion = (element: Element): element is QuizQuestion =>
  isInput(element) &&
  'correct' in elementDefinitions[element.type].attrs &&
  'correct' in element.attrs &&
  element.attrs.correct !== undefined;

/** The attributes of a question that tell the right answer. */
const secrets: readonly string[] = Object.keys(quizAttributes('string'));

const hasSecrets = ({ attrs = {} }: Element): boolean => secrets.some((name) => name in attrs);

/**
 * Returns a form without its right answers, for everything that visitors receive before they submit. Options
 * lose their points, which would reveal the best one. Returns the form itself if it is not a quiz.
 */
export const withoutAnswerKey = memoizeByObject((form: Form): Form => {
  if (![...walkElements(form)].some(({ element }) => hasSecrets(element))) return form;
  return {
    ...form,
    children: form.children.map((step) => ({ ...step, children: step.children.map(strip) })),
  };
});

function strip(element: Element): Element {
  const { children, attrs } = element;
  // The form is in one language, so its translations are no longer needed.
  const { translations: _texts, options, ...others }: Readonly<Record<string, unknown>> = { ...attrs };
  const kept = hasSecrets(element)
    ? {
        ...Object.fromEntries(Object.entries(others).filter(([name]) => !secrets.includes(name))),
        ...(options !== undefined && {
          options: isQuizQuestion(element) ? (options as readonly Option[]).map(withoutPoints) : options,
        }),
      }
    : attrs;
  // Without these attributes, an element is still valid.
  return { ...element, attrs: kept, ...(children && { children: children.map(strip) }) } as Element;
}

function withoutPoints(option: Option): Option {
  if (typeof option === 'string') return option;
  const { points: _points, ...rest } = option;
  return rest;
}
