import { idParameter, operation } from '#kit/operation.ts';
import { notePerson, originOf, personalLine } from '#workspaces/audit/note-person.ts';
import { askProvider, providerSeconds, signInByProvider } from '#workspaces/identity-provider.ts';
import {
  addPasskey,
  askForPasskey,
  namePasskey,
  readPasskeys,
  removePasskey,
  signInByPasskey,
  startPasskey,
} from '#workspaces/second-factor/passkeys.ts';
import { hasPassword } from '#workspaces/second-factor/password-again.ts';
import {
  type Added,
  confirmTotp,
  readFactors,
  removeTotp,
  renewRecoveryCodes,
  startTotp,
} from '#workspaces/second-factor/second-factor.ts';
import { isSetUp } from '#workspaces/workspaces.ts';
import type { ConsoleServices } from '../serve.ts';
import {
  AddedFactor,
  MadePasskey,
  NewTotp,
  PasskeyName,
  PasskeyQuestion,
  PasskeyRequest,
  PasswordAgain,
  ProviderAnswer,
  ProviderQuestion,
  RecoveryCodes,
  SecondFactors,
  SecondStep,
  ShownPasskey,
  WaysIn,
} from './shapes.ts';

/** `__Host-` where the service is reached by https, as for sessions (#workspaces/accounts.ts). */
const cookie = (name: string, maxAgeSeconds: number) => {
  const names = { plain: `formloom.${name}`, secure: `__Host-formloom.${name}` };
  return {
    /** What the browser sent of it. */
    read(headers: Headers): string | undefined {
      const cookies = (headers.get('Cookie') ?? '').split(/;\s*/);
      for (const each of [names.secure, names.plain]) {
        const found = cookies.find((sent) => sent.startsWith(`${each}=`));
        if (found) return found.slice(each.length + 1);
      }
      return undefined;
    },
    /** For Set-Cookie, where there is something to keep; '' ends it. */
    write(publicUrl: string, value: string | undefined): string[] {
      if (value === undefined) return [];
      const isSecure = publicUrl.startsWith('https:');
      const attributes = `Max-Age=${value === '' ? 0 : maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
      return [`${isSecure ? names.secure : names.plain}=${value}; ${attributes}`];
    },
  };
};

/** The mark of a browser that has signed in before (#workspaces/sign-in.ts), for a year: browsers keep none longer. */
export const deviceCookie = cookie('device', 31_536_000);

/** What a browser keeps, sealed, while its person is at the provider of identities. */
const askedCookie = cookie('provider', providerSeconds);

/** The reply to what changes the second factors: `description` says what has happened. */
const addedReply = (description: string) => ({ status: 200, description, schema: AddedFactor }) as const;

/** What somebody is told whose second factors have changed; the mail about it goes out. */
function answerAdded({ wakeQueue }: ConsoleServices, { recoveryCodes, cookies }: Added) {
  wakeQueue();
  return { body: { recovery_codes: recoveryCodes }, headers: { 'Set-Cookie': cookies } };
}

/** What a person signs in with beside the password. Secrets and codes are in one answer each, and in no other. */
export function secondFactorEndpoints(services: ConsoleServices) {
  const { database, config } = services;
  return {
    readSecondFactors: operation({
      summary: 'Read one’s second factors',
      caller: 'person',
      reply: { status: 200, description: 'What there is, without its secrets.', schema: SecondFactors },
      async run({ person }) {
        const { totpSince, recoveryCodes } = await readFactors(database, person.id);
        const passkeys = (await readPasskeys(database, person.id)).map((passkey) => ({
          id: passkey.id,
          name: passkey.name,
          created_at: passkey.created_at.toISOString(),
          last_used_at: passkey.last_used_at?.toISOString() ?? null,
        }));
        const totp_since = totpSince?.toISOString() ?? null;
        const has_password = await hasPassword(database, person.id);
        return { body: { totp_since, recovery_codes_left: recoveryCodes, has_password, passkeys } };
      },
    }),

    startTotp: operation({
      summary: 'Begin to set up an authenticator app',
      caller: 'person',
      audit: { none: 'It takes effect when it is confirmed, which has an entry.' },
      body: PasswordAgain,
      reply: { status: 201, description: 'What the app reads. Nothing has changed yet.', schema: NewTotp },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const service = `Formloom (${new URL(config.publicUrl).host})`;
        return { body: await startTotp(services, { person, visitor }, { ...body, service }) };
      },
    }),

    confirmTotp: operation({
      summary: 'Add the authenticator app by a code of it',
      caller: 'person',
      audit: 'own entry',
      body: SecondStep,
      reply: addedReply('The cookies are a new session; every other one is over.'),
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await confirmTotp(services, { person, visitor }, body.code));
      },
    }),

    removeTotp: operation({
      summary: 'Remove the authenticator app',
      caller: 'person',
      audit: 'own entry',
      body: PasswordAgain,
      reply: addedReply('It is removed.'),
      errors: ['not_found', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await removeTotp(services, { person, visitor }, body.password));
      },
    }),

    renewRecoveryCodes: operation({
      summary: 'Get other recovery codes',
      caller: 'person',
      audit: 'own entry',
      body: PasswordAgain,
      reply: { status: 200, description: 'The former ones have ended.', schema: RecoveryCodes },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const codes = await renewRecoveryCodes(services, { person, visitor }, body.password);
        services.wakeQueue();
        return { body: { recovery_codes: codes } };
      },
    }),
  };
}

/** Passkeys: adding, naming and removing one's own, and signing in by one. */
export function passkeyEndpoints(services: ConsoleServices) {
  const { database } = services;
  return {
    startPasskey: operation({
      summary: 'Begin to add a passkey',
      caller: 'person',
      audit: { none: 'It changes nothing.' },
      body: PasswordAgain,
      reply: { status: 201, description: 'What the browser makes it by.', schema: PasskeyRequest },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const { algorithms, ...request } = await startPasskey(services, { person, visitor }, body.password);
        return { body: { ...request, algorithms: [...algorithms] } };
      },
    }),

    addPasskey: operation({
      summary: 'Add the passkey that the browser made',
      caller: 'person',
      audit: 'own entry',
      body: MadePasskey,
      reply: addedReply('Where it is the first, every other session is over.'),
      errors: ['bad_request', 'conflict'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await addPasskey(services, { person, visitor }, body));
      },
    }),

    renamePasskey: operation({
      summary: 'Name a passkey',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasskeyName,
      reply: { status: 204, description: 'It is called so.' },
      async run({ person, visitor, params, body }) {
        await namePasskey(database, { userId: person.id, id: params.id, name: body.name });
        await notePerson(database, personalLine({ person, visitor }, 'renamePasskey'));
      },
    }),

    removePasskey: operation({
      summary: 'Remove a passkey',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordAgain,
      reply: addedReply('It signs nobody in any more.'),
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        return answerAdded(
          services,
          await removePasskey(services, { person, visitor }, { ...params, ...body }),
        );
      },
    }),

    askForPasskey: operation({
      summary: 'Begin to sign in by a passkey',
      caller: 'visitor',
      audit: { none: 'It changes nothing.' },
      reply: { status: 201, description: 'What the browser shows one by.', schema: PasskeyQuestion },
      errors: ['conflict', 'rate_limit_exceeded'],
      run: async ({ visitor }) => ({ body: await askForPasskey(services, visitor) }),
    }),

    signInByPasskey: operation({
      summary: 'Sign in by a passkey',
      caller: 'visitor',
      audit: 'own entry',
      body: ShownPasskey,
      reply: { status: 204, description: 'The cookies are the session.' },
      errors: ['unauthorized', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const { userId, cookies, device } = await signInByPasskey(services, visitor, body);
        const by = { origin: originOf(visitor) };
        await notePerson(database, { who: { userId }, operation: 'signInByPasskey', by });
        return {
          headers: { 'Set-Cookie': [...cookies, ...deviceCookie.write(services.config.publicUrl, device)] },
        };
      },
    }),
  };
}

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
      audit: { none: 'It changes nothing.' },
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
      audit: 'own entry',
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
