import { useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';

/**
 * What a browser does for a page that it loads: says its title, and puts the focus at its beginning when what had it
 * is gone.
 */
export function Announcer(): ReactElement {
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
