import type { InputOf } from '#app/operations/operations.ts';
import type { PasskeyRequest } from '#workspaces/sign-in/session-shapes.ts';

/** Whether this browser has passkeys at all: without https, and before some year, there are none. */
export const hasPasskeys = (): boolean => 'PublicKeyCredential' in window;

const encode = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Has the browser make a passkey, which it asks the person about. @throws Error with a sentence for people. */
export async function makePasskey(
  request: PasskeyRequest,
  user: { id: string; email: string; name: string },
): Promise<Omit<InputOf<'addPasskey'>['body'], 'name'>> {
  const credential = await asking(
    navigator.credentials.create({
      publicKey: {
        challenge: bytesOf(request.challenge),
        rp: { id: request.host, name: 'Formloom' },
        user: { id: bytesOf(user.id), name: user.email, displayName: user.name },
        pubKeyCredParams: request.algorithms.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: request.known.map((id) => ({ type: 'public-key', id: decode(id) })),
        // The person is known to the authenticator, and it to us without an address: so it is both steps.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      },
    }),
  );
  const response = credential.response as AuthenticatorAttestationResponse;
  const publicKey = response.getPublicKey();
  if (!publicKey) throw new Error('This passkey is of a kind that is not taken here.');
  return {
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.getAuthenticatorData()),
    public_key: encode(publicKey),
    algorithm: response.getPublicKeyAlgorithm(),
  };
}

/** Has the browser show a passkey of this service. @throws Error with a sentence for people. */
export async function showPasskey(request: {
  challenge: string;
  host: string;
}): Promise<InputOf<'signInByPasskey'>['body']> {
  const credential = await asking(
    navigator.credentials.get({
      publicKey: { challenge: bytesOf(request.challenge), rpId: request.host, userVerification: 'required' },
    }),
  );
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    id: encode(credential.rawId),
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.authenticatorData),
    signature: encode(response.signature),
  };
}

/** The browser names its reasons by words of its own. */
const reasons: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used: it was cancelled, or there is none here.',
  InvalidStateError: 'This device has a passkey for your account already.',
  SecurityError: 'Passkeys work at the address that this service calls its own, and not at this one.',
  NotSupportedError: 'This device has no passkeys of a kind that is taken here.',
};

async function asking(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await asked) as PublicKeyCredential;
  } catch (cause) {
    const reason = cause instanceof DOMException ? reasons[cause.name] : undefined;
    throw reason === undefined ? cause : new Error(reason, { cause });
  }
}
