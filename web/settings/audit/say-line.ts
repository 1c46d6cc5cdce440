import { sayMoment } from '../../design/time.tsx';
import type { ReplyOf } from '#app/operations.ts';

export type Line = ReplyOf<'listAuditLog'>['data'][number];

/** `changeWebhook` -> Change webhook. */
export function sayOperation({ operation }: Line): string {
  const words = operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function sayActor({ actor: { kind, name } }: Line): string {
  if (kind === 'operator') return 'Whoever runs the service';
  return kind === 'key' ? `API key ${name ?? ''}` : (name ?? 'Somebody who is gone');
}

type Change = { from?: unknown; to?: unknown };
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** By what people know the thing that was made, or that lost its name. */
export function sayNamed({ changes }: Line): string | undefined {
  const { from, to = from } = changes?.['name'] ?? {};
  return typeof to === 'string' ? to : undefined;
}

/** What was changed of something that was there; and what something was made of. */
export function partChanges({ changes }: Line): { changed: string[]; made: string[] } {
  const all = Object.entries(changes ?? {}) as [string, Change][];
  const said = (isMade: boolean): string[] =>
    all.filter(([, { from }]) => (from === undefined) === isMade).map((each) => sayChange(...each));
  return { changed: said(false), made: said(true) };
}

/** `role: editor → admin`. */
function sayChange(name: string, change: Change): string {
  const label = name.replaceAll('_', ' ').replaceAll('.', ' › ');
  if (change.from === undefined) return `${label}: ${sayValue(change.to)}`;
  return `${label}: ${sayValue(change.from)} → ${sayValue(change.to)}`;
}

function sayValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return moment.test(value) ? sayMoment(value) : value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.map(sayValue).join(', ') || 'none' : JSON.stringify(value);
}
