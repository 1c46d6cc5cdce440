import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { after } from 'node:test';
import { Provider } from 'oidc-provider';

export type ProviderPerson = Record<string, unknown> & { sub: string };

/** A provider of identities that signs in whoever `person` says, without asking; its forms of consent are passed over. */
export type TestProvider = {
  issuer: string;
  person: ProviderPerson;
  /** How often it was asked what it can do. */
  discoveries: number;
};

export const providerClient = { id: 'formloom', secret: 'a-secret-of-the-client-of-tests' };

/** Starts one (oidc-provider, certified) for a service that is reached at `publicUrl`, which is said before it begins. */
export async function openProvider(port: number, publicUrl: () => string): Promise<TestProvider> {
  const issuer = `http://127.0.0.1:${port}`;
  const opened: TestProvider = { issuer, person: { sub: 'nobody' }, discoveries: 0 };
  let provider: Provider | undefined;
  const open = (): Provider => {
    const made = new Provider(issuer, {
      clients: [
        {
          client_id: providerClient.id,
          client_secret: providerClient.secret,
          redirect_uris: [`${publicUrl()}/app/signed-in`],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      claims: { openid: ['sub', 'amr', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      ttl: { Grant: 600, AccessToken: 600, IdToken: 600, Interaction: 600, Session: 600 },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context, sub) => ({ accountId: sub, claims: () => opened.person }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    });
    return made;
  };
  const server = createServer((request, response) => {
    provider ??= open();
    if (request.url?.endsWith('/openid-configuration')) opened.discoveries += 1;
    if (request.url?.startsWith('/interaction/')) void interact(provider, opened.person, request, response);
    else void provider.callback()(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return opened;
}

/** Signs the person in and consents to all that is asked. */
async function interact(
  provider: Provider,
  person: ProviderPerson,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, {
      login: { accountId: person.sub, ...(Array.isArray(person['amr']) && { amr: person['amr'] }) },
    });
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
