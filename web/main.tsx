import './design/tokens.css';
import './design/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/client.ts';
import { holdUnread } from './design/unread.ts';
import { router } from './routes.tsx';
import { leadToSignIn } from './shell/session.ts';

leadToSignIn(router);
holdUnread(router.history);
/**
 * Refused requests are shown on their screens (shell/screens.tsx). Everything else is a bug and is logged.
 */
const onCaughtError = (error: unknown): void => {
  if (!(error instanceof ApiProblem)) console.error(error);
};

createRoot(document.getElementById('root')!, { onCaughtError }).render(
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>,
);
