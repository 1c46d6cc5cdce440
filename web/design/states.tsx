import './states.css';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { ApiProblem, isServiceReady } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** Shown for an empty list: what belongs here, why it is useful, and the next step. */
export function EmptyState({
  icon,
  title,
  level: Title = 'h2',
  children,
  action,
}: {
  icon: IconName;
  title: string;
  /** h1 if the page has no other title. */
  level?: 'h1' | 'h2';
  children?: ReactNode;
  action?: ReactNode;
}): ReactElement {
  return (
    <div className="state">
      <span className="state-icon">
        <Icon name={icon} size={26} />
      </span>
      <Title className="state-title">{title}</Title>
      {children && <div className="state-text">{children}</div>}
      {action && <div className="row state-action">{action}</div>}
    </div>
  );
}

/** How often the screen checks whether the service is back, in milliseconds. */
const askAgainMs = 3_000;

/** Whether the connection or the service is down, which may resolve itself. */
const isAway = (error: Error): boolean =>
  error instanceof ApiProblem && [0, 502, 503, 504].includes(error.status);

/**
 * Calls `perform` when the service responds again. It polls /readyz instead of the query, because a retried
 * query would restart its screen.
 */
function useWhenBack(isWaiting: boolean, perform: (() => void) | undefined): void {
  useEffect(() => {
    if (!isWaiting || !perform) return undefined;
    const ask = async (): Promise<void> => {
      if (await isServiceReady()) perform();
    };
    const timer = setInterval(() => void ask(), askAgainMs);
    return () => clearInterval(timer);
  }, [isWaiting, perform]);
}

/**
 * Explains why something could not be loaded, with a retry button. It retries automatically when the service
 * is back.
 */
export function ErrorState({
  error,
  level: Title = 'h2',
  onRetry,
  action,
}: {
  error: Error;
  /** h1 if the page has no other title. */
  level?: 'h1' | 'h2';
  onRetry?: () => void;
  /** An alternative to retrying. */
  action?: ReactNode;
}): ReactElement {
  const isGone = error instanceof ApiProblem && error.status === 404;
  const isWaiting = isAway(error);
  useWhenBack(isWaiting, onRetry);
  return (
    <div className="state" role="alert">
      <span className="state-icon state-icon-bad">
        <Icon name={isGone ? 'search' : 'error'} size={26} />
      </span>
      <Title className="state-title">{isGone ? 'Not found' : 'This could not be loaded'}</Title>
      <p className="state-text">
        {isGone ? 'It was deleted, or it belongs to a workspace you are not a member of.' : error.message}
        {isWaiting && onRetry && ' It will load when the service responds again.'}
      </p>
      {((onRetry && !isGone) || action) && (
        <div className="row state-action">
          {onRetry && !isGone && (
            <Button icon="refresh" onPress={onRetry}>
              Try again
            </Button>
          )}
          {action}
        </div>
      )}
    </div>
  );
}

/** After this many milliseconds, loading counts as slow. */
const longMs = 2_000;
const longWords = 'This is taking longer than usual. The service may be busy or unavailable.';

function useLong(isWaiting: boolean): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setLong(true), longMs);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isWaiting]);
  return isLong;
}

/** Says that loading is slow while the previous content stays visible. */
export function SlowNote({ isWaiting }: { isWaiting: boolean }): ReactElement {
  const isLong = useLong(isWaiting);
  return (
    <p className="soft small" role="status" hidden={!isLong}>
      {isLong && longWords}
    </p>
  );
}

/** Whether a response has no rows: a list, or a page of a list. */
function isEmpty(data: unknown): boolean {
  const rows = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  return Array.isArray(rows) && rows.length === 0;
}

/**
 * Renders a query in each of its states: loading, failed (with a retry button), empty, or loaded. Earlier
 * data stays visible.
 */
export function QueryState<Data>({
  query: { data, error, refetch },
  lines,
  label,
  empty,
  showsError = false,
  children,
}: {
  query: { data: Data | undefined; error: Error | null; refetch: () => Promise<unknown> };
  lines?: number;
  label?: string;
  /** Shown if there are no rows. */
  empty?: ReactNode;
  /** Whether an error is also shown above earlier data. */
  showsError?: boolean;
  children: (data: Data) => ReactNode;
}): ReactElement {
  const failed = error && <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return failed ?? <Loading {...(lines && { lines })} {...(label && { label })} />;
  return (
    <>
      {showsError && failed}
      {empty && isEmpty(data) ? empty : children(data)}
    </>
  );
}

/** Several skeleton lines, with a label for screen readers. If loading is slow, the label is visible. */
export function Loading({ lines = 3, label = 'Loading…' }: { lines?: number; label?: string }): ReactElement {
  const isLong = useLong(true);
  return (
    <div className="stack" aria-busy="true">
      <span className={isLong ? 'soft' : 'unseen'} role="status">
        {isLong ? longWords : label}
      </span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
