import './skip-link.css';
import type { ReactElement } from 'react';

/** The first stop of Tab: past what every screen begins with. */
export function SkipLink(): ReactElement {
  return (
    <a className="skip-link" href="#main">
      Skip to content
    </a>
  );
}
