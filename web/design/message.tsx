import './message.css';
import type { ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

const icons = { info: 'info', good: 'check', warn: 'warning', bad: 'error' } as const satisfies Record<
  string,
  IconName
>;
export type Tone = keyof typeof icons;

/** What is refused only when a dialog was saved: it may be out of sight, and is brought to where the eyes are. */
export const LateProblem = ({ children }: { children: ReactNode }): ReactElement => (
  <div ref={show} className="late-problem">
    <Message tone="bad">{children}</Message>
  </div>
);

const show = (problem: HTMLElement | null): void => problem?.scrollIntoView({ block: 'nearest' });

/** A note within a page or a dialog. One that is `bad` is read out when it appears. */
export function Message({
  tone = 'info',
  title,
  children,
  action,
}: {
  tone?: Tone;
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
}): ReactElement {
  return (
    <div className={`message message-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icons[tone]} />
      <div className="message-text">
        {title && <p className="message-title">{title}</p>}
        {children && <div>{children}</div>}
      </div>
      {action}
    </div>
  );
}
