import './task-progress.css';
import type { ReactElement, ReactNode } from 'react';
import { Message } from './message.tsx';

/** Shows the progress of a task, or why it stopped. */
export function TaskProgress({
  label,
  task: { done, total, failed_reason },
  unit = '',
  note,
  advice,
  action,
}: {
  label: string;
  task: { done: number; total: number; failed_reason: string | null };
  /** What is counted, for example "submissions". */
  unit?: string;
  note?: ReactNode;
  /** What the user can do about a stopped task. */
  advice?: string;
  action?: ReactNode;
}): ReactElement {
  const words = `${done.toLocaleString()} of ${total.toLocaleString()}`;
  if (failed_reason !== null)
    return (
      <Message tone="bad" title={`${label} stopped`} action={action}>
        {failed_reason} {words} {unit && `${unit} `}are done. {advice}
      </Message>
    );
  return (
    <Message action={action}>
      <label className="task-progress">
        <span>
          {label}: {words} {note && <span className="soft">· {note}</span>}
        </span>
        <progress max={total} value={done} />
      </label>
    </Message>
  );
}
