import { readFileSync } from 'node:fs';
import type { EventKind } from '../event.ts';
import type { Receiver } from '../shapes.ts';

/** Receivers of webhooks that a person can start from: the very files that test/examples.test.ts runs. */
const examples = [
  { id: 'node', label: 'Node', file: 'receiver.mjs' },
  { id: 'python', label: 'Python', file: 'receiver.py' },
  { id: 'php', label: 'PHP', file: 'receiver.php' },
  { id: 'go', label: 'Go', file: 'receiver.go' },
] as const;

const read = (path: string): string =>
  readFileSync(new URL(`../../../examples/${path}`, import.meta.url), 'utf8');
/** Read once, when the server starts: 16 KB. */
const sources = examples.map((example) => ({ ...example, code: read(`${example.id}/${example.file}`) }));

/** What stands in the examples for the webhook's own. */
const blanks = {
  address: 'https://example.com/hooks/formloom',
  events: /(["'])submission\.created\1, \1submission\.updated\1, \1submission\.deleted\1/,
  field: /(["'])subject\1/,
} as const;

/**
 * The examples with the address and events of a webhook and a field of its form in them.
 * @param webhook `field`: the id of an element, which has only letters, digits, `-` and `_`.
 */
export const receiversFor = (webhook: {
  url: string;
  events: readonly EventKind[];
  field: string | undefined;
}): Receiver[] =>
  sources.map(({ code, ...example }) => ({
    ...example,
    code: code
      // Written out as a URL it has no line end and nothing that ends PHP: it stands in a comment.
      .replace(blanks.address, () => new URL(webhook.url).href)
      .replace(blanks.events, (_, quote: string) =>
        webhook.events.map((event) => quote + event + quote).join(', '),
      )
      .replace(blanks.field, (_, quote: string) => quote + (webhook.field ?? 'subject') + quote),
  }));
