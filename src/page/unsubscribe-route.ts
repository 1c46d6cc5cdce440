import type { FastifyRequest } from 'fastify';
import { findUnsubscriber, unsubscribe } from '#invitations/sending/unsubscribe.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import type { Vault } from '#kit/vault.ts';
import { renderNotice, renderUnsubscribe } from './render/notices.ts';
import { sendPage } from './send-page.ts';
import type { LinkRequest } from './visit/open-visit.ts';
import { chooseLocale } from './words/choose-locale.ts';
import { wordsOf } from './words/languages.ts';

/**
 * `/f/<id>/unsubscribe/<token>`: a visit asks, a POST ends the mails of the workspace to whoever was invited with the
 * token. Mail programs POST on their own (RFC 8058: `List-Unsubscribe=One-Click`), without a page or a cookie; the
 * form may be closed by then, or in the trash.
 */
export function unsubscribeRoute(server: Server, context: { database: Database; vault: Vault }): void {
  server.get('/f/:id/unsubscribe/:token', async (request: LinkRequest, reply) => {
    await findUnsubscriber(context, linkOf(request));
    const { locale, words } = wordsFor(request);
    const { id, token } = request.params;
    const action = `/f/${id}/unsubscribe/${token}`;
    return sendPage(reply, 200, renderUnsubscribe({ action, language: locale, words }));
  });

  server.post('/f/:id/unsubscribe/:token', async (request: LinkRequest, reply) => {
    await unsubscribe(context, linkOf(request));
    const { locale, words } = wordsFor(request);
    const said = { title: words.unsubscribedTitle, message: words.unsubscribedText, language: locale };
    return sendPage(reply, 200, renderNotice(said));
  });

  refuseOtherMethods(server, '/f/:id/unsubscribe/:token', ['GET', 'POST']);
}

/** @throws ApiError not_found. */
function linkOf({ params: { id, token } }: LinkRequest): { formId: string; token: string } {
  if (!uuidPattern.test(id)) throw new ApiError('not_found');
  return { formId: id, token };
}

function wordsFor(request: FastifyRequest) {
  const locale = chooseLocale({ accepted: request.headers['accept-language'] });
  return { locale, words: wordsOf[locale] };
}
