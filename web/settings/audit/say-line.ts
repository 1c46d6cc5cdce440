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

/** `role: editor → admin`. */
export function sayChange(name: string, change: { from?: unknown; to?: unknown }): string {
  const label = name.replaceAll('_', ' ').replaceAll('.', ' › ');
  if (change.from === undefined) return `${label}: ${sayValue(change.to)}`;
  return `${label}: ${sayValue(change.from)} → ${sayValue(change.to)}`;
}

function sayValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.map(sayValue).join(', ') || 'none' : JSON.stringify(value);
}
