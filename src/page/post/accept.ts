import type { FastifyRequest } from 'fastify';
import type { AnswerFiles } from '#ast/answers.ts';
import type { SubmitResult } from '#submissions/submit.ts';
import { addressKey } from '#workspaces/address-key.ts';
import { screenAnswers, type ScreeningContext } from '../screening.ts';
import type { Visit } from '../visit/visit.ts';
import { type Controls, controlOf } from './controls.ts';

/** What was sent. `key` is the submission's own, read from whatever carried it. */
export type Sent = {
  readonly raw: unknown;
  readonly files: AnswerFiles;
  readonly key: string | undefined;
  readonly controls: Controls;
};

/** Takes a visitor's answers as a submission, or holds them, as the form's settings say. */
export function accept(
  context: ScreeningContext,
  { live, reference, guest }: Visit,
  request: FastifyRequest,
  { raw, files, key, controls }: Sent,
): Promise<SubmitResult> {
  return screenAnswers(
    context,
    // An invitation is answered once, whatever key is sent with it.
    { live, raw, files, reference, key: guest?.invitationId ?? key },
    {
      address: addressKey(request.ip),
      page: controlOf(controls, '_key'),
      website: controlOf(controls, '_website'),
      proof: controlOf(controls, '_proof'),
    },
  );
}
