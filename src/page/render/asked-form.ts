import { endOfForm } from '#ast/logic/condition.ts';
import type { Settings } from '#ast/settings.ts';
import { type Element, type Form, isQuestion, type Step } from '#ast/tree.ts';
import type { Words } from '../words/words.ts';
import { reviewStepId } from './review-step.ts';

type Asking = Pick<Settings, 'layout' | 'review_step'>;

// A form never changes; what is made of it is asked for with each request.
const made = new WeakMap<Form, Map<string, Form>>();

/**
 * The form as its pages ask it: each question a step of its own where the settings say so, and behind the last step the
 * one that lists the answers. Its elements are the very ones of the form, and mean the same.
 */
export function askedForm(form: Form, asking: Asking, { reviewTitle }: Pick<Words, 'reviewTitle'>): Form {
  const { layout, review_step: hasReview } = asking;
  if (layout !== 'question' && !hasReview) return form;
  const known = made.get(form) ?? new Map<string, Form>();
  made.set(form, known);
  const name = `${layout} ${hasReview && reviewTitle}`;
  const steps = layout === 'question' ? form.children.flatMap(singly) : form.children;
  const asked = known.get(name) ?? {
    ...form,
    children: hasReview ? [...steps.map(leadToReview), reviewStep(reviewTitle)] : steps,
  };
  known.set(name, asked);
  return asked;
}

const reviewStep = (title: string): Step => ({
  type: 'step',
  attrs: { id: reviewStepId, title },
  children: [],
});

/** The end of the form is behind the answers' list. */
function leadToReview(step: Step): Step {
  const { jumps } = step.attrs ?? {};
  if (!jumps) return step;
  const led = jumps.map((jump) => (jump.to === endOfForm ? { ...jump, to: reviewStepId } : jump));
  return { ...step, attrs: { ...step.attrs, jumps: led } };
}

/** A step for each question of a step, under its title; they are reached when it is, and the last one leads on. */
function singly(step: Step): Step[] {
  const { layout: _layout, jumps, ...first } = step.attrs ?? {};
  const { id: _id, description: _description, ...later } = first;
  const parts = questionsIn(step.children);
  return parts.map((children, index) => ({
    type: 'step',
    attrs: { ...(index === 0 ? first : later), ...(jumps && index === parts.length - 1 && { jumps }) },
    children,
  }));
}

/** Each question, a group as a whole, with the texts before it; those at the end stay with the last one. */
function questionsIn(elements: readonly Element[]): (readonly Element[])[] {
  const parts: Element[][] = [];
  let texts: Element[] = [];
  for (const element of elements) {
    texts.push(element);
    if (!isQuestion(element)) continue;
    parts.push(texts);
    texts = [];
  }
  const last = parts.at(-1);
  if (!last) return [texts];
  last.push(...texts);
  return parts;
}
