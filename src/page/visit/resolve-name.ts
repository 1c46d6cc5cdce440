import type { FastifyReply, FastifyRequest } from 'fastify';
import { slugSetting } from '#ast/settings-kinds.ts';
import { findFormByName } from '#forms/slugs.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { domainWorkspaceOf } from '#workspaces/domains.ts';

type Named = { id?: string; slug?: string; token?: string };

/**
 * Finds the form of a request that has a short address or that came to a workspace's domain. Replaces the short
 * address in `params` by the form's ID, so that no route needs to know it. A page at a former short address redirects
 * to the current one; posts are accepted, so that no answers are lost. The redirect is temporary, because a form can get
 * a former address back.
 * @throws ApiError not_found for a form of another workspace than the domain's.
 */
export async function resolveName(
  { database }: { database: Database },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const params = request.params as Named;
  // A link to results names its form in its token.
  const name = (params.id ?? params.token?.split('.', 1)[0] ?? '').toLowerCase();
  const workspaceId = domainWorkspaceOf(request.raw);
  const isId = uuidPattern.test(name);
  if (isId ? workspaceId === undefined : !slugSetting.accepts(name)) return undefined;
  const [form] = await findFormByName(database, { slug: name, id: isId ? name : null });
  if (workspaceId !== undefined && form?.workspace_id !== workspaceId)
    throw new ApiError('not_found', 'There is no form at this address.');
  if (isId || !form?.is_open) return undefined;
  const { id, slug } = form;
  if (name !== slug && (request.method === 'GET' || request.method === 'HEAD')) {
    const address = request.url.replace(/^\/f\/[^/?#]+/, `/f/${slug ?? id}`);
    return reply.header('Cache-Control', 'no-store').redirect(address, 302);
  }
  Object.assign(params, { id, slug: name });
  return undefined;
}
