import { operation } from '#kit/operation.ts';
import { notePerson, originOf } from '#workspaces/audit/note-person.ts';
import { askProvider, signInByProvider } from '#workspaces/identity-provider.ts';
import { isSetUp } from '#workspaces/setup.ts';
import type { ConsoleServices } from '../services.ts';
import { askedCookie } from './device-cookie.ts';
import { ProviderAnswer, ProviderQuestion, WaysIn } from './shapes.ts';

/** Signing in by the provider of identities that the operator named. */
export function providerEndpoints(services: ConsoleServices) {
  const { publicUrl, identityProvider } = services.config;
  return {
    readWaysIn: operation({
      summary: 'Read how one signs in here',
      caller: 'visitor',
      reply: { status: 200, description: 'Beside a password and a passkey.', schema: WaysIn },
      run: async () => ({
        body: { is_set_up: await isSetUp(services.database), provider: identityProvider?.name ?? null },
      }),
    }),

    askProvider: operation({
      summary: 'Begin to sign in by the provider',
      caller: 'visitor',
      reply: { status: 201, description: 'Where the browser goes to.', schema: ProviderQuestion },
      errors: ['conflict', 'service_unavailable', 'rate_limit_exceeded'],
      async run({ visitor }) {
        const { url, kept } = await askProvider(services, visitor);
        return { body: { url }, headers: { 'Set-Cookie': askedCookie.write(publicUrl, kept) } };
      },
    }),

    signInByProvider: operation({
      summary: 'Sign in by what the provider answered',
      caller: 'visitor',
      body: ProviderAnswer,
      reply: { status: 204, description: 'The cookies are the session.' },
      errors: ['unauthorized', 'forbidden', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const kept = askedCookie.read(visitor.headers);
        const { userId, cookies } = await signInByProvider(services, visitor, { answer: body.answer, kept });
        const by = { origin: originOf(visitor) };
        await notePerson(services.database, { who: { userId }, operation: 'signInByProvider', by });
        services.wakeQueue();
        return { headers: { 'Set-Cookie': [...cookies, ...askedCookie.write(publicUrl, '')] } };
      },
    }),
  };
}
