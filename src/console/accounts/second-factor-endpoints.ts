import { operation } from '#kit/operation.ts';
import { readPasskeys } from '#workspaces/second-factor/passkeys.ts';
import { hasPassword } from '#workspaces/second-factor/password-again.ts';
import {
  type Added,
  confirmTotp,
  readFactors,
  removeTotp,
  renewRecoveryCodes,
  startTotp,
} from '#workspaces/second-factor/second-factor.ts';
import type { ConsoleServices } from '../services.ts';
import { AddedFactor, NewTotp, PasswordAgain, RecoveryCodes, SecondFactors, SecondStep } from './shapes.ts';

/** The reply to what changes the second factors: `description` says what has happened. */
export const addedReply = (description: string) =>
  ({ status: 200, description, schema: AddedFactor }) as const;

/** What somebody is told whose second factors have changed; the mail about it goes out. */
export function answerAdded({ wakeQueue }: ConsoleServices, { recoveryCodes, cookies }: Added) {
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
