import type { FastifyRequest } from 'fastify';
import { stepIndexOfField } from '#ast/answers/check-step.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { ApiError } from '#kit/errors.ts';
import { listVerifiedElements } from '#submissions/verified.ts';
import type { FieldMessage } from '../render/view.ts';
import type { Visit } from '../visit/visit.ts';
import { getControlValue } from './controls.ts';
import { checkCode, readAddressToVerify, readVerified, sendCode } from './email-codes.ts';
import { wantsJson } from './handle-json-post.ts';
import type { PagePost } from './page-post.ts';
import type { PostServices } from './post-context.ts';

/**
 * Verifies the addresses of a post on the way to the next step: checks entered codes, and emails a code for
 * each visible address up to the shown step that has none. A program gets the errors of the submission
 * instead of an email.
 * @param stored the answers before an edit. Their addresses need no code.
 */
export async function verifyPostedEmails(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
  stored: RawAnswers = {},
): Promise<PagePost> {
  const { live, words, sentences } = visit;
  const elements = listVerifiedElements(live.form);
  if (elements.length === 0) return post;
  const shown = evaluateVisibility(live.form, post.raw, visit.context, post.files);
  const codes = new Map(post.codes);
  const problems: FieldMessage[] = [];
  for (const element of elements) {
    const { id } = element.attrs;
    const address = readAddressToVerify(getProperty(post.raw, id));
    const state = codes.get(id);
    const isLater = (stepIndexOfField(live.form, id) ?? 0) > (post.step ?? Infinity);
    if (address === undefined || isLater || !shown.isShown(element)) continue;
    if ((state && 'token' in state) || address === readAddressToVerify(getProperty(stored, id))) continue;
    const target = { live, element: id, address };
    const code = state && getControlValue(post.controls, `_code[${id}]`)?.trim();
    const isAgain = getControlValue(post.controls, '_again') === id;
    const fail = (message: string): void => void problems.push({ field: id, message });
    try {
      if (code && state && !isAgain) {
        const token = await checkCode(context, request, target, { id: state.sent, code });
        if (token === undefined) fail(words.codeWrong);
        else codes.set(id, { token });
      } else if (!wantsJson(request)) {
        const sent = state && !isAgain ? state.sent : await sendCode(context, visit, request, target);
        if (sent !== undefined) codes.set(id, { sent });
        fail(sent === undefined ? words.codeLimited : sentences.unverified);
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate_limit_exceeded') throw error;
      fail(words.codeLimited);
    }
  }
  const verified = readVerified(context, live, post.raw, (id) => {
    const state = codes.get(id);
    return state && 'token' in state ? state.token : undefined;
  });
  return { ...post, codes, verified, problems: [...post.problems, ...problems] };
}
