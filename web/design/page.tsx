import './page.css';
import { type ReactElement, type ReactNode, useEffect } from 'react';

/** Sets the title of the window and of the history entry. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Formloom`;
  }, [title]);
}

type PageProps = {
  title: string;
  /** Shown under the title. */
  lead?: ReactNode;
  /** Buttons next to the title. */
  actions?: ReactNode;
  children: ReactNode;
  /** narrow for a form or text, settings for every page of settings, wide for tables (tokens.css). */
  width?: 'narrow' | 'settings' | 'wide';
};

/** The content of a screen, with the screen's only h1. Also sets the window title. */
export function Page({ title, lead, actions, children, width = 'wide' }: PageProps): ReactElement {
  useTitle(title);
  return (
    <div className={`page page-${width}`}>
      <header className="page-header">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p className="page-lead">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section of a page on its own surface. */
export function Card({
  title,
  lead,
  actions,
  children,
}: {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}): ReactElement {
  return (
    <section className="card">
      {(title || actions) && (
        <header className="card-header">
          <div>
            {title && <h2 className="card-title">{title}</h2>}
            {lead && <p className="card-lead">{lead}</p>}
          </div>
          {actions && <div className="row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** A page of settings: they all have one width, and one sentence below the title. */
export function SettingsPage(
  props: Omit<PageProps, 'width'> & { lead: NonNullable<ReactNode> },
): ReactElement {
  return <Page {...props} width="settings" />;
}
