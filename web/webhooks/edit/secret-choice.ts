import type { Webhook, WebhookChange } from '#webhooks/shapes.ts';

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
