import './design/tokens.css';
import './design/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/client.ts';
import { blockUnreadableInput } from './design/unreadable-input.ts';
import { router } from './routes.tsx';
import { redirectWhenSignedOut } from './shell/session.ts';

redirectWhenSignedOut(router);
blockUnreadableInput(router.history);
/**
 * Refused requests are shown on their screens (shell/screens.tsx). Every other error is a bug and is logged.
 */
const onCaughtError = (error: unknown): void => {
  if (!(error instanceof ApiProblem)) console.error(error);
};

createRoot(document.getElementById('root')!, { onCaughtError }).render(
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>,
);
