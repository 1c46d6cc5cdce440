import './panel.css';
import './print.css';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import type { TableRow } from '#submissions/shapes.ts';
import { useWide } from '../../design/use-window.ts';
import { type LocatedForm, useCurrentForm } from '../../shell/session.ts';
import { type ChangeView, searchOf, useViewState, type ViewState } from '../view-state.ts';
import { SubmissionPanel } from './submission-panel.tsx';

type Props = {
  form: LocatedForm;
  id: string;
  view: ViewState;
  rows: readonly TableRow[];
  onChange: ChangeView;
};

/** Shows one submission next to the table, or over it on small screens. */
export function PanelContainer({ form, id, view, rows, onChange }: Props): ReactElement {
  const isWide = useWide();
  const close = (): void => {
    onChange({ open: undefined });
    // Returns the focus to the submission's row.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] .sheet-link`)?.focus(),
    );
  };
  /** Opens another submission of the view. If it is on another page, the table changes to that page. */
  const go = (next: string): void => {
    const at = rows.findIndex((row) => row.id === id);
    const isHere = rows.some((row) => row.id === next);
    const turn = isHere || at < 0 ? 0 : at === 0 ? -1 : 1;
    onChange({ open: next, ...(turn !== 0 && { page: Math.max(1, view.page + turn) }) }, { replace: true });
  };
  const panel = <SubmissionPanel form={form} id={id} view={view} onGo={go} onClose={close} />;
  if (isWide)
    return (
      <aside className="panel panel-beside" aria-label="Submission">
        {panel}
      </aside>
    );
  return (
    <ModalOverlay
      className="panel-veil"
      isOpen
      onOpenChange={(isOpen) => !isOpen && close()}
      isKeyboardDismissDisabled
    >
      <Modal className="panel panel-over">
        <AriaDialog className="panel-dialog" aria-label="Submission">
          {panel}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** One submission on a page of its own. The URL keeps the view, which decides the previous and next one. */
export function SubmissionScreen(): ReactElement {
  const form = useCurrentForm();
  const { submission } = useParams({ from: '/inside/forms/$form/submissions/$submission' });
  const [view] = useViewState();
  const navigate = useNavigate();
  const search = (before: Record<string, unknown>) => searchOf(before, {});
  const params = { form: form.id };
  return (
    <article className="panel panel-page" aria-label="Submission">
      <SubmissionPanel
        isPage
        form={form}
        id={submission}
        view={view}
        onGo={(next) =>
          void navigate({
            to: '/forms/$form/submissions/$submission',
            params: { ...params, submission: next },
            search,
          })
        }
        onClose={() => void navigate({ to: '/forms/$form/submissions', params, search })}
      />
    </article>
  );
}
