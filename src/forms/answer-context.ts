import type { AnswerContext } from '#ast/logic/evaluate.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import { newWork, type Work } from '#ast/work.ts';
import { now } from '#kit/clock.ts';

/**
 * What a form's rules and conditions look at beside the answers: the reference, and the day in the form's time zone.
 * @param work what is left to the request, where something was done for it before.
 */
export const answerContext = (
  settings: Settings,
  reference: Readonly<Record<string, string>>,
  work: Work = newWork(),
): AnswerContext => ({
  reference,
  today: todayIn(settings.time_zone ?? 'UTC', now()),
  work,
  asksSingly: settings.layout === 'question',
});
