import type { Webhook, WebhookChange } from '#webhooks/shapes.ts';

/** A header as it is being entered. One that is stored has no value here, unless a new one is entered. */
export type HeaderDraft = { key: string; name: string; value: string; isStored: boolean };

export const mostHeaders = 10;

let made = 0;
/** A line for another header. */
export function emptyHeader(): HeaderDraft {
  made += 1;
  return { key: `new ${made}`, name: '', value: '', isStored: false };
}

export const headerDrafts = (webhook: Pick<Webhook, 'header_names'> | undefined): HeaderDraft[] =>
  (webhook?.header_names ?? []).map((name) => ({ key: name, name, value: '', isStored: true }));

/** What is sent for headers; undefined when nothing about them is different. Lines that are blank are left out. */
export function headersOf(
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

/** What becomes of a webhook's secret when its form is saved. */
export type SecretChoice = 'keep' | 'none' | 'generate' | 'enter';

type Choice = { id: SecretChoice; label: string; description: string };

const generate: Choice = {
  id: 'generate',
  label: 'Generate one',
  description: 'Long and random, shown once. The best choice when nothing is set up yet.',
};
const enter: Choice = {
  id: 'enter',
  label: 'Enter one',
  description: 'One that your receiver knows already, of 16 to 256 characters.',
};

/** What may be chosen: for a new webhook (or one without a secret), and for one that has a secret. */
export function secretChoices(
  webhook: Pick<Webhook, 'has_secret'> | undefined,
  isAllowed: boolean,
): Choice[] {
  const setting = isAllowed ? [generate, enter] : [];
  if (!webhook?.has_secret) {
    return [{ id: 'none', label: 'No secret', description: 'Deliveries are not signed.' }, ...setting];
  }
  return [
    { id: 'keep', label: 'Keep the secret', description: 'Deliveries stay signed with it.' },
    ...setting.map((choice) => ({
      ...choice,
      label: choice.id === 'generate' ? 'Generate a new one' : 'Enter a new one',
    })),
    { id: 'none', label: 'Remove the secret', description: 'Deliveries are not signed any more.' },
  ];
}

/** What is sent for a choice; undefined leaves the secret as it is. */
export function secretOf(choice: SecretChoice, entered: string, had: boolean): WebhookChange['secret'] {
  if (choice === 'generate') return 'generate';
  if (choice === 'enter') return entered;
  return choice === 'none' && had ? null : undefined;
}
