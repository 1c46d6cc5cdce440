import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, lazyRouteComponent, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect } from 'react';
import { ApiProblem, isServiceReady } from '../api/client.ts';
import { Page, useTitle } from '../design/page.tsx';
import { EmptyState, ErrorState, Loading } from '../design/states.tsx';

/** The script of a screen could not be loaded. Only reloading the page helps. */
class NotLoadedProblem extends ApiProblem {}

/**
 * Loads a screen when it is first shown. If the service is down, the screen says so and loads later. If a
 * newer release removed the script, lazyRouteComponent reloads the page.
 */
export const lazyScreen: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(
    () =>
      importer().catch(async (error: unknown) => {
        if (await isServiceReady()) throw error;
        throw new NotLoadedProblem(0, { message: 'The service cannot be reached.' });
      }),
    name,
  );

/** Shown for an unknown URL. It has no workspace frame, because no workspace is known. */
export function NotFoundScreen(): ReactElement {
  useTitle('Not found');
  return (
    <main className="frameless" id="main">
      <EmptyState
        level="h1"
        icon="search"
        title="Page not found"
        action={<Link to="/">Go to your forms</Link>}
      >
        <p>It may have been deleted, or the link may be incomplete.</p>
      </EmptyState>
    </main>
  );
}

/** Shown in the frame if a screen could not be loaded or rendered. */
export function FailedScreen({ error }: ErrorComponentProps): ReactElement {
  useTitle('Problem');
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  // Fetches failed queries again instead of reusing their cached errors.
  useEffect(reset, [reset]);
  return <ErrorState level="h1" error={asError(error)} onRetry={() => tryAgain(error, router)} />;
}

/** Shown without a frame if the session or a form could not be loaded. */
export function FailedFrame({ error }: ErrorComponentProps): ReactElement {
  useTitle('Problem');
  const router = useRouter();
  return (
    <main className="frameless" id="main">
      <ErrorState
        level="h1"
        error={asError(error)}
        onRetry={() => tryAgain(error, router)}
        action={<Link to="/">Go to your forms</Link>}
      />
    </main>
  );
}

function tryAgain(error: unknown, router: ReturnType<typeof useRouter>): void {
  if (error instanceof NotLoadedProblem) location.reload();
  else void router.invalidate();
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Shown if a screen takes longer than 300 ms to load. */
export function PendingScreen(): ReactElement {
  return (
    <Page title="Loading…">
      <Loading lines={4} />
    </Page>
  );
}
