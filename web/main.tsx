import './design/tokens.css';
import './design/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { leadToSignIn } from './shell/expired.ts';
import { router } from './routes.tsx';

leadToSignIn();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>,
);
