import './states.css';
import { type CSSProperties, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { ApiProblem, isReady } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** Where nothing is yet: what would be here, why one would want it, and the step that brings it. */
export function EmptyState({
  icon,
  title,
  level: Title = 'h2',
  children,
  action,
}: {
  icon: IconName;
  title: string;
  /** h1 where the page has no other title. */
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

/** So often is asked whether a service that was away is back, in ms. */
const askAgainMs = 3_000;

/** A lost line, or a service or what it needs that is away: it may pass without anybody's doing. */
const isAway = (error: Error): boolean =>
  error instanceof ApiProblem && [0, 502, 503, 504].includes(error.status);

/** Waits for the service, and does it then. What is loaded is not itself asked for, as its screen would begin anew each time. */
function useWhenBack(isWaiting: boolean, perform: (() => void) | undefined): void {
  useEffect(() => {
    if (!isWaiting || !perform) return undefined;
    const ask = async (): Promise<void> => {
      if (await isReady()) perform();
    };
    const timer = setInterval(() => void ask(), askAgainMs);
    return () => clearInterval(timer);
  }, [isWaiting, perform]);
}

/** Where something could not be loaded: why, and a way to try again, which is taken by itself when the service is back. */
export function ErrorState({
  error,
  level: Title = 'h2',
  onRetry,
  action,
}: {
  error: Error;
  /** h1 where the page has no other title. */
  level?: 'h1' | 'h2';
  onRetry?: () => void;
  /** Another way on. */
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
      <Title className="state-title">{isGone ? 'This is not here' : 'This could not be loaded'}</Title>
      <p className="state-text">
        {isGone
          ? 'It was deleted, or it belongs to a workspace that you are not a member of.'
          : error.message}
        {isWaiting && onRetry && ' It is loaded as soon as the service answers again.'}
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

/** A grey bar where something is on its way, as large as what will be there (in CSS units). */
export function Skeleton({
  inlineSize = '100%',
  blockSize = '1rem',
  round,
}: {
  inlineSize?: string;
  blockSize?: string;
  round?: boolean;
}): ReactElement {
  const style: CSSProperties = { inlineSize, blockSize, ...(round && { borderRadius: '50%' }) };
  return <span className="skeleton" style={style} aria-hidden="true" />;
}

/** What takes longer is said to, in ms. */
const longMs = 2_000;
const longWords = 'This takes longer than usual: the service is busy, or does not answer.';

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

/** Where what was there stays until the next is: that this takes long. */
export function SlowNote({ isWaiting }: { isWaiting: boolean }): ReactElement {
  const isLong = useLong(isWaiting);
  return (
    <p className="soft small" role="status" hidden={!isLong}>
      {isLong && longWords}
    </p>
  );
}

/** An answer with no rows: a list, or a page of one. */
function isEmpty(data: unknown): boolean {
  const rows = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  return Array.isArray(rows) && rows.length === 0;
}

/** What a query is: loading, failed with a way to try again, empty, or what it has found. What was found before stays. */
export function QueryState<Data>({
  query: { data, error, refetch },
  lines,
  label,
  empty,
  showsError = false,
  children,
}: {
  query: { data: Data | undefined; error: Error | null; refetch: () => Promise<unknown> };
  /** Of the skeleton. */
  lines?: number;
  label?: string;
  /** In place of no rows. */
  empty?: ReactNode;
  /** Whether an error is shown above what was found before, too. */
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

/** Several skeleton lines, and the words for those who do not see them; where it takes long, for everybody. */
export function Loading({
  lines = 3,
  label = 'Loading …',
}: {
  lines?: number;
  label?: string;
}): ReactElement {
  const isLong = useLong(true);
  return (
    <div className="stack" aria-busy="true">
      <span className={isLong ? 'soft' : 'unseen'} role="status">
        {isLong ? longWords : label}
      </span>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} blockSize="2.5rem" />
      ))}
    </div>
  );
}
