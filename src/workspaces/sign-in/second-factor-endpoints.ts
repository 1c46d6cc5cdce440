import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { accountEventOf, ipAndAgentOf, recordAccountEvent } from '../audit/record-account-event.ts';
import { isSetUp } from '../workspaces.ts';
import { providerSignInSeconds, signInByProvider, startProviderSignIn } from './identity-provider.ts';
import {
  addPasskey,
  changePasskeyName,
  createSignInChallenge,
  readPasskeys,
  removePasskey,
  signInByPasskey,
  startPasskeyRegistration,
} from './passkeys.ts';
import { hasPassword } from './require-password.ts';
import type { SessionServices } from './require-person.ts';
import {
  confirmTotp,
  type FactorChangeResult,
  readTwoFactorState,
  removeTotp,
  renewRecoveryCodes,
  startTotpSetup,
} from './second-factor.ts';
import {
  AddedFactorCodes,
  PasskeyAssertionBody,
  PasskeyChallenge,
  PasskeyName,
  PasskeyRegistrationBody,
  PasskeyRequest,
  PasswordConfirmation,
  ProviderCallback,
  ProviderRedirect,
  RecoveryCodes,
  SecondFactors,
  SignInMethods,
  TotpSetup,
  TwoFactorCode,
} from './session-shapes.ts';

/**
 * Returns functions that read and write a cookie. Its name begins with `__Host-` if the instance is reached
 * by https, as for sessions (#workspaces/accounts/account-library.ts).
 */
const cookie = (name: string, maxAgeSeconds: number) => {
  const names = { plain: `formloom.${name}`, secure: `__Host-formloom.${name}` };
  return {
    /** Returns the cookie's value from the request headers. */
    read(headers: Headers): string | undefined {
      const cookies = (headers.get('Cookie') ?? '').split(/;\s*/);
      for (const each of [names.secure, names.plain]) {
        const found = cookies.find((sent) => sent.startsWith(`${each}=`));
        if (found) return found.slice(each.length + 1);
      }
      return undefined;
    },
    /** Returns the Set-Cookie values: none if the value is undefined; '' deletes the cookie. */
    write(publicUrl: string, value: string | undefined): string[] {
      if (value === undefined) return [];
      const isSecure = publicUrl.startsWith('https:');
      const attributes = `Max-Age=${value === '' ? 0 : maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
      return [`${isSecure ? names.secure : names.plain}=${value}; ${attributes}`];
    },
  };
};

/**
 * The cookie that identifies a browser that has signed in before (sign-in.ts). It lives for a year: browsers
 * do not keep cookies much longer.
 */
export const knownBrowserCookie = cookie('device', 31_536_000);

/** The sealed state of a sign-in while the person is at the identity provider. */
const providerStateCookie = cookie('provider', providerSignInSeconds);

/** The reply of operations that change two-factor methods; `description` says what changed. */
const addedReply = (description: string) => ({ status: 200, description, schema: AddedFactorCodes }) as const;

/** Responds after a change of two-factor methods and wakes the queue, which sends the email about it. */
function answerAdded({ wakeQueue }: SessionServices, { recoveryCodes, cookies }: FactorChangeResult) {
  wakeQueue();
  return { body: { recovery_codes: recoveryCodes }, headers: { 'Set-Cookie': cookies } };
}

/** Operations on a person's two-factor methods. Each secret or code appears in one response only. */
export function secondFactorEndpoints(services: SessionServices) {
  const { database, config } = services;
  return {
    readSecondFactors: operation({
      summary: 'Get two-factor methods',
      caller: 'person',
      reply: {
        status: 200,
        description: 'The two-factor methods, without their secrets.',
        schema: SecondFactors,
      },
      async run({ person }) {
        const { totpSince, recoveryCodes } = await readTwoFactorState(database, person.id);
        const found = await readPasskeys(database, person.id);
        const passkeys = found.map(({ credential_id: _credentialId, ...passkey }) => asWireValue(passkey));
        const totp_since = totpSince?.toISOString() ?? null;
        const has_password = await hasPassword(database, person.id);
        return { body: { totp_since, recovery_codes_left: recoveryCodes, has_password, passkeys } };
      },
    }),

    startTotp: operation({
      summary: 'Start setting up an authenticator app',
      caller: 'person',
      audit: { none: 'It takes effect only when it is confirmed, which writes an audit entry.' },
      body: PasswordConfirmation,
      reply: {
        status: 201,
        description: 'The secret for the app. Nothing has changed yet.',
        schema: TotpSetup,
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const service = `Formloom (${new URL(config.publicUrl).host})`;
        return { body: await startTotpSetup(services, { person, visitor }, { ...body, service }) };
      },
    }),

    confirmTotp: operation({
      summary: 'Confirm the authenticator app with a code',
      caller: 'person',
      audit: 'own entry',
      body: TwoFactorCode,
      reply: addedReply('The cookies carry a new session. All other sessions have ended.'),
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await confirmTotp(services, { person, visitor }, body.code));
      },
    }),

    removeTotp: operation({
      summary: 'Remove the authenticator app',
      caller: 'person',
      audit: 'own entry',
      body: PasswordConfirmation,
      reply: addedReply('The authenticator app is removed.'),
      errors: ['not_found', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await removeTotp(services, { person, visitor }, body.password));
      },
    }),

    renewRecoveryCodes: operation({
      summary: 'Create new recovery codes',
      caller: 'person',
      audit: 'own entry',
      body: PasswordConfirmation,
      reply: {
        status: 200,
        description: 'The new codes. The previous ones no longer work.',
        schema: RecoveryCodes,
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const codes = await renewRecoveryCodes(services, { person, visitor }, body.password);
        services.wakeQueue();
        return { body: { recovery_codes: codes } };
      },
    }),
  };
}

/** Operations that add, name and remove passkeys, and that sign in with one. */
export function passkeyEndpoints(services: SessionServices) {
  const { database } = services;
  return {
    startPasskey: operation({
      summary: 'Start adding a passkey',
      caller: 'person',
      audit: { none: 'It changes nothing.' },
      body: PasswordConfirmation,
      reply: {
        status: 201,
        description: 'The options with which the browser creates the passkey.',
        schema: PasskeyRequest,
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        const { algorithms, ...request } = await startPasskeyRegistration(
          services,
          { person, visitor },
          body.password,
        );
        return { body: { ...request, algorithms: [...algorithms] } };
      },
    }),

    addPasskey: operation({
      summary: 'Add a passkey',
      caller: 'person',
      audit: 'own entry',
      body: PasskeyRegistrationBody,
      reply: addedReply('The passkey is added. If it is the first, all other sessions have ended.'),
      errors: ['bad_request', 'conflict'],
      async run({ person, visitor, body }) {
        return answerAdded(services, await addPasskey(services, { person, visitor }, body));
      },
    }),

    renamePasskey: operation({
      summary: 'Rename a passkey',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasskeyName,
      reply: { status: 204, description: 'The passkey is renamed.' },
      async run({ person, visitor, params, body }) {
        await changePasskeyName(database, { userId: person.id, id: params.id, name: body.name });
        await recordAccountEvent(database, accountEventOf({ person, visitor }, 'renamePasskey'));
      },
    }),

    removePasskey: operation({
      summary: 'Remove a passkey',
      caller: 'person',
      audit: 'own entry',
      params: idParameter,
      body: PasswordConfirmation,
      reply: addedReply('The passkey can no longer be used to sign in.'),
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        return answerAdded(
          services,
          await removePasskey(services, { person, visitor }, { ...params, ...body }),
        );
      },
    }),

    askForPasskey: operation({
      summary: 'Start signing in with a passkey',
      caller: 'visitor',
      audit: { none: 'It changes nothing.' },
      reply: { status: 201, description: 'The challenge that the passkey signs.', schema: PasskeyChallenge },
      errors: ['conflict', 'rate_limit_exceeded'],
      run: async ({ visitor }) => ({ body: await createSignInChallenge(services, visitor) }),
    }),

    signInByPasskey: operation({
      summary: 'Sign in with a passkey',
      caller: 'visitor',
      audit: 'own entry',
      body: PasskeyAssertionBody,
      reply: { status: 204, description: 'The cookies carry the session.' },
      errors: ['unauthorized', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const { userId, cookies, device } = await signInByPasskey(services, visitor, body);
        const by = { origin: ipAndAgentOf(visitor) };
        await recordAccountEvent(database, { who: { userId }, operation: 'signInByPasskey', by });
        return {
          headers: {
            'Set-Cookie': [...cookies, ...knownBrowserCookie.write(services.config.publicUrl, device)],
          },
        };
      },
    }),
  };
}

/** Operations that sign in with the operator's identity provider. */
export function providerEndpoints(services: SessionServices) {
  const { publicUrl, identityProvider } = services.config;
  return {
    readWaysIn: operation({
      summary: 'Get sign-in methods',
      caller: 'visitor',
      reply: {
        status: 200,
        description: 'The identity provider, and whether the instance is set up.',
        schema: SignInMethods,
      },
      run: async () => ({
        body: { is_set_up: await isSetUp(services.database), provider: identityProvider?.name ?? null },
      }),
    }),

    askProvider: operation({
      summary: 'Start signing in with the identity provider',
      caller: 'visitor',
      audit: { none: 'It changes nothing.' },
      reply: { status: 201, description: 'The URL to redirect the browser to.', schema: ProviderRedirect },
      errors: ['conflict', 'service_unavailable', 'rate_limit_exceeded'],
      async run({ visitor }) {
        const { url, cookie } = await startProviderSignIn(services, visitor);
        return { body: { url }, headers: { 'Set-Cookie': providerStateCookie.write(publicUrl, cookie) } };
      },
    }),

    signInByProvider: operation({
      summary: 'Sign in with the identity provider',
      caller: 'visitor',
      audit: 'own entry',
      body: ProviderCallback,
      reply: { status: 204, description: 'The cookies carry the session.' },
      errors: ['unauthorized', 'forbidden', 'conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        const cookie = providerStateCookie.read(visitor.headers);
        const { userId, cookies } = await signInByProvider(services, visitor, { ...body, cookie });
        const by = { origin: ipAndAgentOf(visitor) };
        await recordAccountEvent(services.database, { who: { userId }, operation: 'signInByProvider', by });
        services.wakeQueue();
        return { headers: { 'Set-Cookie': [...cookies, ...providerStateCookie.write(publicUrl, '')] } };
      },
    }),
  };
}
