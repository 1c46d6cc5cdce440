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
