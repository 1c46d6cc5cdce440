import './chip.css';
import type { ReactElement, ReactNode } from 'react';
import type { StageColor } from '#rules/columns.ts';
import type { Tone } from './message.tsx';

/** A word in a colored pill. The word carries the meaning; the color makes it easier to find. */
export function Chip({
  tone = 'plain',
  children,
}: {
  tone?: Tone | 'plain';
  children: ReactNode;
}): ReactElement {
  return <span className={`chip chip-${tone}`}>{children}</span>;
}

/** Every status with its word and color. */
const statuses = {
  draft: ['Draft', 'plain'],
  published: ['Published', 'good'],
  archived: ['Archived', 'warn'],
  completed: ['Completed', 'good'],
  incomplete: ['Incomplete', 'plain'],
  waiting: ['Waiting', 'warn'],
  Success: ['Success', 'good'],
  Failed: ['Failed', 'bad'],
  Retrying: ['Retrying', 'warn'],
  active: ['Active', 'good'],
  paused: ['Paused', 'plain'],
  pending: ['Pending', 'plain'],
  verified: ['Verified', 'good'],
  queued: ['Queued', 'plain'],
  sent: ['Sent', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Canceled', 'plain'],
  expired: ['Expired', 'warn'],
  revoked: ['Revoked', 'bad'],
} as const satisfies Record<string, readonly [word: string, tone: Tone | 'plain']>;

type Status = keyof typeof statuses;

/** The status of a form, submission, delivery, webhook, email, key or domain. */
export function StatusChip({ status }: { status: Status }): ReactElement {
  const [word, tone] = statuses[status];
  return <DotChip tone={tone}>{word}</DotChip>;
}

/** A state in a pill with a dot of its color. */
function DotChip({ tone, children }: { tone: Tone | 'plain'; children: ReactNode }): ReactElement {
  return (
    <span className={`chip chip-${tone}`}>
      <span className="chip-dot" aria-hidden="true" />
      {children}
    </span>
  );
}

const tones = {
  gray: 'plain',
  blue: 'info',
  green: 'good',
  yellow: 'warn',
  red: 'bad',
} as const satisfies Record<StageColor, Tone | 'plain'>;

/** A stage of submissions with its color; nothing until the stages are loaded. */
export function StageChip({
  stage,
}: {
  stage: { name: string; color: StageColor } | undefined;
}): ReactElement | null {
  return stage ? <DotChip tone={tones[stage.color]}>{stage.name}</DotChip> : null;
}
