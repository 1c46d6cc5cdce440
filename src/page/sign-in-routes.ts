import type { FastifyReply } from 'fastify';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { domainWorkspaceOf } from '#workspaces/domains.ts';
import type { AskProviderServices } from '#workspaces/sign-in/identity-provider.ts';
import {
  finishRespondentSignIn,
  respondentCallbackPath,
  startRespondentSignIn,
} from '#workspaces/sign-in/respondents.ts';
import { type FormRequest, type OpenVisitServices, openVisit } from './visit/visit.ts';

/**
 * Adds the sign-in of respondents: `/f/<id>/sign-in` leads to the identity provider, and `/f/signed-in` back
 * to the form with a cookie. Both work without a script.
 */
export function signInRoutes(server: Server, context: OpenVisitServices & AskProviderServices): void {
  server.get('/f/:id/sign-in', async (request: FormRequest, reply) => {
    const { live, path } = await openVisit(context, request, ['signIn', 'responded', 'full']);
    const { _next: next } = request.query as Readonly<Record<string, unknown>>;
    if (live.settings.access !== 'organisation') return reply.redirect(path, 303);
    // The provider only returns to the host of the service, where the visitor continues.
    if (domainWorkspaceOf(request.raw) !== undefined)
      return reply.redirect(`${context.config.publicUrl}${request.url}`, 303);
    const { url, cookie } = await startRespondentSignIn(context, live, {
      address: ipRateLimitKey(request.ip),
      next: ownAddress(path, next) ?? path,
    });
    return redirectWith(reply, cookie, url);
  });

  server.get(respondentCallbackPath, async (request, reply) => {
    const { next, cookie } = await finishRespondentSignIn(context, {
      answer: new URL(request.url, 'http://form').search,
      cookies: request.headers.cookie,
      address: ipRateLimitKey(request.ip),
    });
    return redirectWith(reply, cookie, next);
  });

  refuseOtherMethods(server, '/f/:id/sign-in', ['GET']);
  refuseOtherMethods(server, respondentCallbackPath, ['GET']);
}

const redirectWith = (reply: FastifyReply, cookie: string, url: string): FastifyReply =>
  reply
    .headers({ 'Set-Cookie': cookie, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    .redirect(url, 303);

/** Returns an address if it leads to this form. */
function ownAddress(path: string, address: unknown): string | undefined {
  const url = typeof address === 'string' ? URL.parse(address, 'http://form') : null;
  const isOwn = url?.origin === 'http://form' && `${url.pathname}/`.startsWith(`${path}/`);
  return isOwn ? `${url.pathname}${url.search}` : undefined;
}
