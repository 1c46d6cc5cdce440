import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';
import { RouterProvider } from 'react-aria-components';
import { queryClient } from '../api/query-client.ts';
import { ToastRegion } from '../design/toast.tsx';

/**
 * What a browser does for a page that it loads: says its title, and puts the focus at its beginning when what had it
 * is gone.
 */
function Announcer(): ReactElement {
  const router = useRouter();
  const [title, setTitle] = useState('');
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        // A screen that is still loading names the window a little later.
        setTimeout(() => {
          setTitle(document.title);
          if (document.activeElement === document.body) document.getElementById('main')?.focus();
        }, 100);
      }),
    [router],
  );
  return (
    <p className="unseen" role="status">
      {title}
    </p>
  );
}

/** What is around every screen. Links of react-aria's menus go through the router too. */
export function Root(): ReactElement {
  const router = useRouter();
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider
        navigate={(path) => void router.navigate({ to: path })}
        useHref={(path) => (path.startsWith('/app/') ? path : `/app${path}`)}
      >
        <Outlet />
        <Announcer />
        <ToastRegion />
      </RouterProvider>
    </QueryClientProvider>
  );
}
