import type { FastifyRequest } from 'fastify';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { createHostCheck, normalizeDomain } from '#kit/outbound/hosts.ts';
import { webhookUserAgent } from '#webhooks/signature.ts';
import { findWorkspaceOfDomain, setDomainWorkspace } from '#workspaces/domains.ts';

const tlsCheckPath = '/internal/tls-check';

/** The paths at a workspace's domain: forms, shared results and the embedding script, but no console and no API. */
const publicPath = /^\/(?:f\/|r\/|embed\.js(?:\?|$))/;

/**
 * Returns whether a request to a host of none of our names is for the domain of a workspace. A proxy asks for
 * certificates at the name by which it knows this service, such as `formloom:3000`.
 */
export const createDomainCheck =
  (database: Database) =>
  async (request: FastifyRequest, host: string): Promise<boolean> => {
    if (request.url.split('?', 1)[0] === tlsCheckPath) return true;
    const domain = normalizeDomain(URL.parse(`http://${host}`)?.hostname ?? '');
    const workspaceId = domain && (await findWorkspaceOfDomain(database, domain));
    if (workspaceId === undefined) return false;
    if (!publicPath.test(request.url)) throw new ApiError('not_found', 'This path does not exist.');
    // A webhook that submits a form would be called by this submission again.
    if (request.headers['user-agent'] === webhookUserAgent)
      throw new ApiError('forbidden', 'Webhooks cannot call forms of the same service.');
    setDomainWorkspace(request.raw, workspaceId);
    return true;
  };

/**
 * Serves `/internal/tls-check?domain=`, which a proxy asks before it gets a certificate (docs/operating/domains.md).
 * 200 for a verified domain and for a host of the service.
 */
export function tlsCheckRoute(
  server: Server,
  { database, config }: { database: Database; config: Pick<Config, 'publicUrl' | 'allowedHosts'> },
): void {
  const isOurs = createHostCheck(config);
  server.get(tlsCheckPath, async (request, reply) => {
    const { domain: given } = request.query as Readonly<Record<string, unknown>>;
    const domain = typeof given === 'string' ? normalizeDomain(given) : undefined;
    if (domain === undefined)
      throw new ApiError('bad_request', '`domain` must be a domain such as forms.example.com.');
    if (!isOurs(domain) && (await findWorkspaceOfDomain(database, domain)) === undefined)
      throw new ApiError('not_found', 'No workspace has verified this domain.');
    return reply.send({ domain });
  });
  refuseOtherMethods(server, tlsCheckPath, ['GET']);
}
