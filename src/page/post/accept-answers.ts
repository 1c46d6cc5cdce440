import type { FastifyRequest } from 'fastify';
import type { AnswerFiles } from '#ast/answers/check-answers.ts';
import { repeatEarlierResult } from '#submissions/repeat.ts';
import { DifferentAnswersError, type SubmitResult } from '#submissions/submit-request.ts';
import type { VerifiedAddresses } from '#submissions/verified.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import type { Refusal } from '../visit/admission.ts';
import { getPostSource, submitScreenedAnswers } from '../visit/screening.ts';
import { FormRefusedError, type Visit } from '../visit/visit.ts';
import { getControlValue, type PostedControls } from './controls.ts';
import type { PostServices } from './post-context.ts';

/** The posted answers. `key` is the idempotency key of the submission, from the page or a header. */
type Sent = {
  readonly raw: unknown;
  readonly files: AnswerFiles;
  readonly key: string | undefined;
  readonly controls: PostedControls;
  readonly verified: VerifiedAddresses;
};

/**
 * Stores a visitor's answers as a submission or as spam, depending on the form's settings. A closed form
 * accepts nothing new, but repeats its response to an earlier submission with this key.
 * @throws Refused, and errors of submitScreenedAnswers.
 */
export async function acceptAnswers(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  { raw, files, key, controls, verified }: Sent,
): Promise<SubmitResult> {
  const { live, reference, respondent, ownKey, locale } = visit;
  const language = languageOfVisit(visit);
  const { work } = visit.context;
  const sent = {
    live,
    raw,
    files,
    verified,
    reference,
    respondent,
    locale,
    language,
    work,
    key: ownKey ?? key,
  };
  if (isFormClosed(visit)) {
    const repeated = await repeatEarlierResult(context, sent);
    if (repeated) return repeated;
    throw new FormRefusedError(visit.refusal, live);
  }
  return submitScreenedAnswers(context, sent, {
    address: ipRateLimitKey(request.ip),
    source: getPostSource(request, live.settings, context.config.publicUrl),
    page: getControlValue(controls, '_key'),
    website: getControlValue(controls, '_website'),
    proof: getControlValue(controls, '_proof'),
  }).catch((error: unknown) => {
    // A person who can respond once has sent no key.
    if (ownKey === undefined || !(error instanceof DifferentAnswersError)) throw error;
    throw new DifferentAnswersError(error.earlier, 'You have already responded to this form.');
  });
}

/** The language stored with the answers; undefined if the form has no languages. */
export const languageOfVisit = ({ languages, language }: Visit): string | undefined =>
  languages.length > 0 ? language : undefined;

/** Whether the form is closed, even if it closed after the visitor opened it. */
export function isFormClosed(visit: Visit): visit is Visit & { readonly refusal: Refusal } {
  return visit.refusal?.reason === 'closed';
}
