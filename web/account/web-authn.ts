import type { InputOf } from '#app/operations/operations.ts';
import type { PasskeyRequest } from '#workspaces/sign-in/session-shapes.ts';

/** Whether this browser supports passkeys. Old browsers and pages without HTTPS do not. */
export const canUsePasskeys = (): boolean => 'PublicKeyCredential' in window;

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

/**
 * Asks the browser to create a passkey.
 * @throws Error with a message for the user.
 */
export async function makePasskey(
  request: PasskeyRequest,
  user: { id: string; email: string; name: string },
): Promise<Omit<InputOf<'addPasskey'>['body'], 'name'>> {
  const credential = await requestCredential(
    navigator.credentials.create({
      publicKey: {
        challenge: bytesOf(request.challenge),
        rp: { id: request.host, name: 'Formloom' },
        user: { id: bytesOf(user.id), name: user.email, displayName: user.name },
        pubKeyCredParams: request.algorithms.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: request.known.map((id) => ({ type: 'public-key', id: decode(id) })),
        // The authenticator verifies the person and stores their account, so a passkey alone counts as both
        // factors.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      },
    }),
  );
  const response = credential.response as AuthenticatorAttestationResponse;
  const publicKey = response.getPublicKey();
  if (!publicKey) throw new Error('This type of passkey is not supported.');
  return {
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.getAuthenticatorData()),
    public_key: encode(publicKey),
    algorithm: response.getPublicKeyAlgorithm(),
  };
}

/**
 * Asks the browser for a passkey of this service.
 * @throws Error with a message for the user.
 */
export async function requestPasskeyAssertion(request: {
  challenge: string;
  host: string;
}): Promise<InputOf<'signInByPasskey'>['body']> {
  const credential = await requestCredential(
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

/** Messages for the error names that browsers use. */
const reasons: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used. The request was canceled, or this device has no passkey.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this URL. Open the console at the main URL of this service.',
  NotSupportedError: 'This device does not support the required type of passkey.',
};

async function requestCredential(request: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return (await request) as PublicKeyCredential;
  } catch (cause) {
    const reason = cause instanceof DOMException ? reasons[cause.name] : undefined;
    throw reason === undefined ? cause : new Error(reason, { cause });
  }
}
