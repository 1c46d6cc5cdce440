import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { RouterProvider } from 'react-aria-components';
import { queryClient } from '../api/query-client.ts';
import { ToastRegion } from '../design/toast.tsx';
import { Announcer } from './announcer.tsx';

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
