import { idParameter, operation } from '#kit/operation.ts';
import { notePerson, originOf, personalLine } from '#workspaces/audit/note-person.ts';
import {
  addPasskey,
  askForPasskey,
  namePasskey,
  removePasskey,
  signInByPasskey,
  startPasskey,
} from '#workspaces/second-factor/passkeys.ts';
import type { ConsoleServices } from '../services.ts';
import { deviceCookie } from './device-cookie.ts';
import { addedReply, answerAdded } from './second-factor-endpoints.ts';
import {
  MadePasskey,
  PasskeyName,
  PasskeyQuestion,
  PasskeyRequest,
  PasswordAgain,
  ShownPasskey,
} from './shapes.ts';

/** Passkeys: adding, naming and removing one's own, and signing in by one. */
export function passkeyEndpoints(services: ConsoleServices) {
  const { database } = services;
  return {
    startPasskey: operation({
      summary: 'Begin to add a passkey',
      caller: 'person',
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
      reply: { status: 201, description: 'What the browser shows one by.', schema: PasskeyQuestion },
      errors: ['conflict', 'rate_limit_exceeded'],
      run: async ({ visitor }) => ({ body: await askForPasskey(services, visitor) }),
    }),

    signInByPasskey: operation({
      summary: 'Sign in by a passkey',
      caller: 'visitor',
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
