import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { editByToken, type OpenedEdit } from '#submissions/changes/edit-by-token.ts';
import { sendPage } from '../send-page.ts';
import type { Visit } from '../visit/visit.ts';
import type { Ending } from './answer-form.ts';
import { wantsJson } from './answer-json.ts';
import type { AnsweringContext } from './answering.ts';
import { controlOf, numberOf } from './controls.ts';
import { pageAgain } from './page-post.ts';

/** What a page has that changes a submission, as it was opened now. */
export function editShowing(
  { words }: Visit,
  token: string,
  { seen }: OpenedEdit,
): ReturnType<Ending['showing']> {
  return {
    editToken: token,
    submitText: words.editSubmit,
    // What the visitor sees: a change of somebody else since then is not overwritten unasked.
    hidden: [['_seen_at', String(seen.getTime())]],
  };
}

/** A page that ends with a changed submission: the one that a link to edit leads to, as it was opened now. */
export function editEnding(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, edit }: { token: string; edit: OpenedEdit },
): Ending {
  const { live, words, look, address } = visit;
  const now = editShowing(visit, token, edit);
  return {
    // A page keeps the state that its visitor saw, through all its steps.
    showing: ({ controls }) => ({ ...now, hidden: [['_seen_at', controlOf(controls, '_seen_at') ?? '']] }),
    submissionId: edit.submissionId,
    async finish(post) {
      const { raw, files, controls } = post;
      const sent = numberOf(controls, '_seen_at');
      const seen = sent === undefined ? undefined : new Date(sent);
      try {
        const result = await editByToken(context, {
          formId: live.id,
          token,
          raw,
          files,
          seen,
          language: visit.language,
        });
        if (!result.ok) return result.errors;
        const told = new Map([['receipt', result.id], ['edit', token], ['_changed', '1'], ...address.own]);
        const next = `/f/${live.id}/submitted?${new URLSearchParams([...told]).toString()}`;
        if (wantsJson(request)) reply.send({ id: result.id, next });
        else reply.redirect(next, 303);
      } catch (error) {
        const isOutdated = error instanceof ApiError && error.code === 'precondition_failed';
        if (!isOutdated || wantsJson(request)) throw error;
        const again = { ...now, step: post.step, errors: [], notice: words.editOutdated };
        const page = pageAgain(context, visit, post, again);
        sendPage(reply, errorCodes.precondition_failed.status, page, look);
      }
      return [];
    },
    save: () =>
      Promise.reject(new ApiError('bad_request', 'Answers that were submitted are not saved for later.')),
  };
}
