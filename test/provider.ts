import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after } from 'node:test';
import { Provider } from 'oidc-provider';
import type { Session } from '#workspaces/sign-in/session-shapes.ts';
import { callConsole } from './console.ts';

export type ProviderPerson = Record<string, unknown> & { sub: string };

/** An identity provider that signs in `person` without a prompt and skips its consent forms. */
export type TestProvider = {
  issuer: string;
  person: ProviderPerson;
  /** The number of requests for its discovery document. */
  discoveries: number;
};

export const providerClient = { id: 'formloom', secret: 'a-secret-of-the-client-of-tests' };

/** Returns settings of a service that signs in by the provider at a port. */
export const providerSettings = (port: number) => ({
  OIDC_ISSUER: `http://127.0.0.1:${port}`,
  OIDC_CLIENT_ID: providerClient.id,
  OIDC_CLIENT_SECRET: providerClient.secret,
  OIDC_NAME: 'Example',
  OIDC_DOMAINS: 'example.org',
});

/**
 * Starts a provider (oidc-provider, certified) for a service. Its first request reads `publicUrl`, so the
 * service may start later.
 */
export async function openProvider(port: number, publicUrl: () => string): Promise<TestProvider> {
  const issuer = `http://127.0.0.1:${port}`;
  const opened: TestProvider = { issuer, person: { sub: 'unknown' }, discoveries: 0 };
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

/** Signs in to a service by a provider, as a browser does. */
export function openProviderVisitor(
  service: { url: string; services: { config: { publicUrl: string } } },
  provider: TestProvider,
) {
  const cookies = (headers: Headers): string =>
    headers
      .getSetCookie()
      .filter((cookie) => !/=;/.test(cookie))
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; ');

  /** Follows the provider's pages as a browser does and returns the URL it redirects back to. */
  async function visit(address: string): Promise<string> {
    const jar = new Map<string, string>();
    let next = address;
    while (!next.startsWith(service.services.config.publicUrl)) {
      const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const { headers, status } = await fetch(next, { redirect: 'manual', headers: { Cookie } });
      for (const cookie of headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
        if (value === '') jar.delete(name!);
        else jar.set(name!, value!);
      }
      const location = headers.get('location');
      assert.ok(location, `the provider answered ${status} at ${next}`);
      next = new URL(location, next).href;
    }
    return new URL(next).search;
  }

  let addresses = 0;
  /** Each call comes from another address, to stay below the limits per address. */
  const send = <Body>(path: string, cookie = '', body: object = {}) =>
    callConsole<Body>(service.url, cookie, 'POST', path, body, {
      'X-Forwarded-For': `10.0.0.${(addresses += 1)}`,
    });

  async function begin(): Promise<{ answer: string; kept: string }> {
    const asked = await send<{ url: string }>('/session/provider-requests');
    assert.equal(asked.status, 201);
    const question = new URL(asked.body.url).searchParams;
    assert.equal(question.get('code_challenge_method'), 'S256');
    return { answer: await visit(asked.body.url), kept: cookies(asked.headers) };
  }

  const finish = (answer: string, kept: string) =>
    send<{ message: string }>('/session/provider', kept, { answer });

  async function enter(person: ProviderPerson) {
    provider.person = person;
    const { answer, kept } = await begin();
    const answered = await finish(answer, kept);
    const cookie = cookies(answered.headers);
    const session = async () => (await callConsole<Session>(service.url, cookie, 'GET', '/session')).body;
    return { ...answered, session };
  }
  return { begin, finish, enter, visit };
}

/** Signs the person in and consents to every request. */
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
