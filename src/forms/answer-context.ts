import type { AnswerContext } from '#ast/logic/evaluate.ts';
import { todayIn } from '#ast/rules/today.ts';
import type { Settings } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';

/** What a form's rules and conditions look at beside the answers: the reference, and the day in the form's time zone. */
export const answerContext = (
  settings: Settings,
  reference: Readonly<Record<string, string>>,
): AnswerContext => ({ reference, today: todayIn(settings.time_zone ?? 'UTC', now()) });
