import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, lazyRouteComponent, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect } from 'react';
import { ApiProblem, isReady } from '../api/client.ts';
import { Page, useTitle } from '../design/page.tsx';
import { EmptyState, ErrorState, Loading } from '../design/states.tsx';

/** The script of a screen could not be loaded: only the page as a whole can be loaded again. */
class NotLoadedProblem extends ApiProblem {}

/**
 * A screen that is loaded when it is first shown. Where the service is away that is said, and the screen comes when it is back;
 * one that a newer version does not have any more is loaded with its page, which lazyRouteComponent sees to.
 */
export const lazyScreen: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(
    () =>
      importer().catch(async (error: unknown) => {
        if (await isReady()) throw error;
        throw new NotLoadedProblem(0, { message: 'The service cannot be reached.' });
      }),
    name,
  );

/** An address that leads nowhere: without the frame of a workspace, which it does not name. */
export function NotFoundScreen(): ReactElement {
  useTitle('Not found');
  return (
    <main className="frameless" id="main">
      <EmptyState
        level="h1"
        icon="search"
        title="There is nothing at this address"
        action={<Link to="/">Go to your forms</Link>}
      >
        <p>It may have been deleted, or the link is incomplete.</p>
      </EmptyState>
    </main>
  );
}

/** A screen that could not be loaded or drawn, within its frame. */
export function FailedScreen({ error }: ErrorComponentProps): ReactElement {
  useTitle('Problem');
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  // What failed is asked for again, rather than failing again from memory.
  useEffect(reset, [reset]);
  return <ErrorState level="h1" error={asError(error)} onRetry={() => tryAgain(error, router)} />;
}

/** The same where there is no frame: the session, or a form as a whole, could not be loaded. */
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

/** While a screen is on its way for longer than a blink. */
export function PendingScreen(): ReactElement {
  return (
    <Page title="Loading …">
      <Loading lines={4} />
    </Page>
  );
}
