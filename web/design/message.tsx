import './message.css';
import type { ReactElement, ReactNode } from 'react';
import type { ApiProblem } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { sayMoment } from './time.tsx';

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

/**
 * Why nothing was changed: somebody else was faster, who is named where that is known, with what they made of it.
 * @param onDiscard for an edit, whose text stays until then.
 */
export function ChangedMeanwhile({
  error: { meanwhile },
  onDiscard,
}: {
  error: ApiProblem;
  onDiscard?: () => void;
}): ReactElement {
  const { thing = 'thing', by = 'Somebody else', at, differences = [] } = meanwhile ?? {};
  return (
    <Message
      tone="bad"
      title={`${by} changed this ${thing}`}
      action={
        onDiscard && (
          <Button size="small" onPress={onDiscard}>
            Discard my edit
          </Button>
        )
      }
    >
      {differences.length > 0 && (
        <ul>
          {differences.map(({ name, before, now }) => (
            <li key={name}>
              {name}: {before} → <strong>{now}</strong>
            </li>
          ))}
        </ul>
      )}
      {at !== undefined && `It was on ${sayMoment(at)}. `}
      {onDiscard
        ? 'It was changed while you edited it, so nothing was saved. Copy what you need, then look at the newer state.'
        : 'Nothing was done yet: decide again.'}
    </Message>
  );
}
