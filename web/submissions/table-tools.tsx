import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { ExportMenu } from './export-menu.tsx';
import type { FormPlace } from './queries.ts';
import { spamCountQuery } from './spam/spam-query.ts';
import type { ViewState } from './view-state.ts';

type Props = {
  form: FormPlace;
  view: ViewState;
  total: number | undefined;
  isArranged: boolean;
  /** Whether the person may make submissions. */
  mayWrite: boolean;
  isTall: boolean;
  onTallChange: (isTall: boolean) => void;
  onColumns: () => void;
};

/** How the table looks, what lies beside it, and what is done with all of it. */
export function TableTools({
  form,
  view,
  total,
  isArranged,
  mayWrite,
  isTall,
  onTallChange,
  onColumns,
}: Props): ReactElement {
  const held = useQuery(spamCountQuery(form)).data;
  return (
    <div className="table-tools">
      <IconButton
        icon="steps"
        label={isTall ? 'Rows of one line' : 'Rows of several lines'}
        aria-pressed={isTall}
        onPress={() => onTallChange(!isTall)}
      />
      <IconButton icon="columns" label="Columns" onPress={onColumns} />
      <Link to="/forms/$form/spam" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="warning" /> Spam{held ? ` (${held.toLocaleString()})` : ''}
      </Link>
      <Link to="/forms/$form/trash" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="remove" /> Trash
      </Link>
      {mayWrite && (
        <Link to="/forms/$form/import" params={{ form: form.id }} className="button button-quiet table-place">
          <Icon name="file" /> Import
        </Link>
      )}
      <ExportMenu form={form} view={view} total={total} isArranged={isArranged} />
    </div>
  );
}
