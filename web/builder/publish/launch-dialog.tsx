import './launch-dialog.css';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense } from 'react';
import { Button } from '../../design/button.tsx';
import { CopyButton, CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import type { BuilderForm } from '../saving/builder-api.ts';
import { embedSnippet } from '../share/links.ts';

const SharedCode = lazy(async () => ({ default: (await import('../share/shared-code.tsx')).SharedCode }));

/** A form went live: its link, to be copied by the first key, and the other ways to its visitors. */
export function LaunchDialog({
  form: { id, name, public_url: url },
  onClose,
}: {
  form: BuilderForm['form'];
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Your form is live"
      isOpen
      onClose={onClose}
      size="medium"
      description="Everybody who has the link can fill it in."
      actions={<Button onPress={onClose}>Done</Button>}
    >
      <div className="launch-link">
        <code className="copy-text">{url}</code>
        <CopyButton text={url} label="Copy link" variant="primary" autoFocus />
      </div>
      <div className="row">
        <a className="button button-secondary button-medium" href={url} target="_blank" rel="noopener">
          <span className="button-content">
            <Icon name="external" />
            Open
          </span>
        </a>
        <Link
          className="button button-secondary button-medium"
          to="/forms/$form/invitations"
          params={{ form: id }}
        >
          <span className="button-content">
            <Icon name="mail" />
            Invite people
          </span>
        </Link>
        <Link
          className="button button-secondary button-medium"
          to="/forms/$form/submissions"
          params={{ form: id }}
        >
          <span className="button-content">
            <Icon name="table" />
            See answers arrive
          </span>
        </Link>
      </div>
      <Suspense fallback={<div className="launch-code" />}>
        <SharedCode text={url} name={name} />
      </Suspense>
      <CopyField label="HTML for any web page" text={embedSnippet(url, { parameters: [] })} isMultiline />
    </Dialog>
  );
}
