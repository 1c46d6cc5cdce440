import './sign-in-screen.css';
import type { ReactElement, ReactNode } from 'react';
import { Logo } from '../design/icon.tsx';
import { useTitle } from '../design/page.tsx';

/** A screen for people who are not inside yet: a card with the mark and one heading. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }): ReactElement {
  useTitle(title);
  return (
    <main className="sign-in" id="main" tabIndex={-1}>
      <div className="sign-in-card card">
        <header className="sign-in-header">
          <Logo size={40} />
          <h1>{title}</h1>
        </header>
        {children}
      </div>
    </main>
  );
}
