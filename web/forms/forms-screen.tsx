import './forms-screen.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Page } from '../design/page.tsx';
import { EmptyState, ErrorState, Loading } from '../design/states.tsx';
import { Pager } from '../design/pager.tsx';
import { mayEdit } from '../shell/session.ts';
import { useWorkspace } from '../settings/workspace.ts';
import { CreateForm, CreateFormDialog } from './create/create-form-dialog.tsx';
import { formsQuery, type FormsView, readFormsView } from './forms-query.ts';
import { FormsTable } from './forms-table.tsx';
import { FormsToolbar } from './forms-toolbar.tsx';

/** The forms of a workspace: found, sorted, created, and dealt with as a whole. */
export function FormsScreen(): ReactElement {
  const workspace = useWorkspace();
  const view = readFormsView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const forms = useQuery(formsQuery(workspace.id, view));
  const [isCreating, setCreating] = useState(false);
  const isEditor = mayEdit(workspace.role);
  const isFiltered = view.q !== undefined || view.status !== undefined;
  // Another filter begins on its first page.
  const show = (change: Partial<FormsView>): void =>
    void navigate({
      to: '.',
      search: (current: Record<string, unknown>) => ({
        ...readFormsView(current),
        page: undefined,
        ...change,
      }),
      replace: true,
      resetScroll: false,
    });
  const isEmpty = forms.data?.pagination.total_count === 0;
  if (isEmpty && !isFiltered && isEditor)
    return (
      <Page
        title="Forms"
        lead="Make your first form: choose how it begins. You can try everything out before anybody sees it."
      >
        <CreateForm workspaceId={workspace.id} />
      </Page>
    );
  const create = isEditor && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      Create form
    </Button>
  );
  return (
    <Page title="Forms" actions={create}>
      {!(isEmpty && !isFiltered) && (
        <FormsToolbar view={view} onChange={show} total={forms.data?.pagination.total_count} />
      )}
      {forms.isPending && <Loading lines={5} />}
      {forms.error && !forms.data && <ErrorState error={forms.error} onRetry={() => void forms.refetch()} />}
      {isEmpty && isFiltered && (
        <EmptyState
          icon="search"
          title="No form matches"
          action={<Button onPress={() => show({ q: undefined, status: undefined })}>Show all forms</Button>}
        >
          <p>Try another word, or another status.</p>
        </EmptyState>
      )}
      {isEmpty && !isFiltered && (
        <EmptyState icon="form" title="No forms yet">
          <p>When somebody makes a form in this workspace, it appears here.</p>
        </EmptyState>
      )}
      {forms.data && !isEmpty && (
        <div className="forms-results" data-stale={forms.isPlaceholderData || undefined}>
          <FormsTable workspace={workspace} forms={forms.data.data} />
          <Pager
            label="Pages of forms"
            pagination={forms.data.pagination}
            onChange={(page) => show({ page })}
          />
        </div>
      )}
      <CreateFormDialog workspaceId={workspace.id} isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
