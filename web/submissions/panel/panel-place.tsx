import './panel.css';
import './print.css';
import type { ReactElement } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import type { TableRow } from '#submissions/shapes.ts';
import { useWide } from '../../design/use-window.ts';
import type { LocatedForm } from '../../shell/form-place.ts';
import type { ChangeView, ViewState } from '../view-state.ts';
import { SubmissionPanel } from './submission-panel.tsx';

type Props = {
  form: LocatedForm;
  id: string;
  view: ViewState;
  rows: readonly TableRow[];
  onChange: ChangeView;
};

/** One submission: beside the table where there is room, else over all of it. */
export function PanelPlace({ form, id, view, rows, onChange }: Props): ReactElement {
  const isWide = useWide();
  const close = (): void => {
    onChange({ open: undefined });
    // Back to the row that it belongs to, as a closed dialog does.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] .sheet-link`)?.focus(),
    );
  };
  /** Another submission of the view; when it is not on this page, the table turns there. */
  const go = (next: string): void => {
    const at = rows.findIndex((row) => row.id === id);
    const isHere = rows.some((row) => row.id === next);
    const turn = isHere || at < 0 ? 0 : at === 0 ? -1 : 1;
    onChange({ open: next, ...(turn !== 0 && { page: Math.max(1, view.page + turn) }) }, { replace: true });
  };
  const panel = <SubmissionPanel form={form} id={id} view={view} onGo={go} onClose={close} />;
  if (isWide) {
    return (
      <aside className="panel panel-beside" aria-label="Submission">
        {panel}
      </aside>
    );
  }
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
