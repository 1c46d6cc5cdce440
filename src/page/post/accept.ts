import type { FastifyRequest } from 'fastify';
import type { AnswerFiles } from '#ast/answers.ts';
import { answerRepeat } from '#submissions/repeat.ts';
import type { SubmitResult } from '#submissions/submit-request.ts';
import { addressKey } from '#workspaces/users.ts';
import type { Refusal } from '../admission.ts';
import { screenAnswers, sourceOf } from '../screening.ts';
import { Refused, type Visit } from '../visit/visit.ts';
import type { AnsweringContext } from './answering.ts';
import { type Controls, controlOf } from './controls.ts';

/** What was sent. `key` is the submission's own, read from whatever carried it. */
type Sent = {
  readonly raw: unknown;
  readonly files: AnswerFiles;
  readonly key: string | undefined;
  readonly controls: Controls;
};

/**
 * Takes a visitor's answers as a submission, or holds them, as the form's settings say. A form that has closed takes
 * nothing more, but whoever was in time and did not hear of it is told so again.
 * @throws Refused, and whatever screenAnswers throws.
 */
export async function accept(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  { raw, files, key, controls }: Sent,
): Promise<SubmitResult> {
  const { live, reference, guest, locale } = visit;
  const language = spokenIn(visit);
  const { work } = visit.context;
  // An invitation is answered once, whatever key is sent with it.
  const sent = { live, raw, files, reference, locale, language, work, key: guest?.invitationId ?? key };
  if (isClosed(visit)) {
    const repeated = await answerRepeat(context, sent);
    if (repeated) return repeated;
    throw new Refused(visit.refusal, live);
  }
  return screenAnswers(context, sent, {
    address: addressKey(request.ip),
    source: sourceOf(request, live.settings, context.config.publicUrl),
    page: controlOf(controls, '_key'),
    website: controlOf(controls, '_website'),
    proof: controlOf(controls, '_proof'),
  });
}

/** The language that goes with the answers; none where the form names none. */
export const spokenIn = ({ languages, language }: Visit): string | undefined =>
  languages.length > 0 ? language : undefined;

/** Whether the form has closed, also since the visitor opened it. */
export function isClosed(visit: Visit): visit is Visit & { readonly refusal: Refusal } {
  return visit.refusal?.reason === 'closed';
}
