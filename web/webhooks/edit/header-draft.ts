import type { Webhook, WebhookChange } from '#webhooks/shapes.ts';

/** A header that is being edited. A stored header has no value here until a new one is entered. */
export type HeaderDraft = { key: string; name: string; value: string; isStored: boolean };

export const mostHeaders = 10;

let createdCount = 0;
/** Creates an empty header row. */
export function emptyHeader(): HeaderDraft {
  createdCount += 1;
  return { key: `new ${createdCount}`, name: '', value: '', isStored: false };
}

export const headerDrafts = (webhook: Pick<Webhook, 'header_names'> | undefined): HeaderDraft[] =>
  (webhook?.header_names ?? []).map((name) => ({ key: name, name, value: '', isStored: true }));

/** Returns the headers to send, or undefined if nothing changed. Blank rows are left out. */
export function headersToSend(
  drafts: readonly HeaderDraft[],
  webhook: Pick<Webhook, 'header_names'> | undefined,
): WebhookChange['headers'] {
  const filled = drafts.filter(({ name, value }) => name !== '' || value !== '');
  const before = webhook?.header_names ?? [];
  const isSame =
    filled.length === before.length && filled.every(({ isStored, value }) => isStored && value === '');
  if (isSame) return undefined;
  return filled.map(({ name, value, isStored }) => ({
    name,
    value: isStored && value === '' ? null : value,
  }));
}

/** What happens to a webhook's secret on saving. */
export type SecretChoice = 'keep' | 'none' | 'generate' | 'enter';

type Choice = { id: SecretChoice; label: string; description: string };

const generate: Choice = {
  id: 'generate',
  label: 'Generate a secret',
  description: 'Long and random. You can copy it once, after saving.',
};
const enter: Choice = {
  id: 'enter',
  label: 'Enter a secret',
  description: 'A secret that your receiver already uses, 16 to 256 characters.',
};

/** Returns the choices for a webhook with or without a secret. */
export function secretChoices(
  webhook: Pick<Webhook, 'has_secret'> | undefined,
  isAllowed: boolean,
): Choice[] {
  const setting = isAllowed ? [generate, enter] : [];
  if (!webhook?.has_secret)
    return [...setting, { id: 'none', label: 'No secret', description: 'Deliveries are not signed.' }];
  return [
    { id: 'keep', label: 'Keep the current secret', description: 'Deliveries are still signed with it.' },
    ...setting.map((choice) => ({
      ...choice,
      label: choice.id === 'generate' ? 'Generate a new secret' : 'Enter a new secret',
    })),
    { id: 'none', label: 'Remove the secret', description: 'Deliveries will no longer be signed.' },
  ];
}

/** Returns the choice that a dialog begins with: a new webhook is signed if the plan allows it. */
export const firstSecretChoice = (
  webhook: Pick<Webhook, 'has_secret'> | undefined,
  isAllowed: boolean,
): SecretChoice => {
  if (!webhook) return isAllowed ? 'generate' : 'none';
  return webhook.has_secret ? 'keep' : 'none';
};

/** Returns the value to send for a choice; undefined keeps the current secret. */
export function secretToSend(choice: SecretChoice, entered: string, had: boolean): WebhookChange['secret'] {
  if (choice === 'generate') return 'generate';
  if (choice === 'enter') return entered;
  return choice === 'none' && had ? null : undefined;
}
