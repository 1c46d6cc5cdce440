import './page.css';
import { type ReactElement, type ReactNode, useEffect } from 'react';

/** Names the window and the browser's history entry. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Formloom`;
  }, [title]);
}

type PageProps = {
  title: string;
  /** A sentence under the title. */
  lead?: ReactNode;
  /** Beside the title: the page's buttons. */
  actions?: ReactNode;
  children: ReactNode;
  /** narrow 44rem for forms and text, wide 72rem for tables, full for what lays itself out. */
  width?: 'narrow' | 'wide' | 'full';
};

/** A screen's content with its one h1. Names the window too. */
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

/** A part of a page on paper of its own. */
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
