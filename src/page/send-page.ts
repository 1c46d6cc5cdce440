import type { FastifyReply } from 'fastify';
import { headersFor } from './headers.ts';
import { type Page, sendText } from '#kit/packing.ts';
import { type Look, plainLook } from './theme/look.ts';

/**
 * Sends a page of this room, with the headers of the look that it was drawn in.
 * @param leadsTo where posting the page's form redirects to: browsers hold the policy's `form-action` against it.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: Page,
  look: Look = plainLook,
  leadsTo: readonly string[] = [],
): FastifyReply {
  reply.code(status).headers(headersFor(look)).type('text/html; charset=utf-8');
  if (leadsTo.length > 0) {
    const policy = headersFor(look)['Content-Security-Policy'];
    const origins = new Set(leadsTo.map((address) => new URL(address).origin));
    const target = `form-action 'self' ${[...origins].join(' ')}`;
    reply.header('Content-Security-Policy', policy.replace("form-action 'self'", target));
  }
  return sendText(reply.request, reply, page);
}
