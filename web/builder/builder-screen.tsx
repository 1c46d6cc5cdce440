import './builder.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useMemo, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { useTitle } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { useCurrentForm, useSession } from '../shell/session.ts';
import { Builder } from './builder.tsx';
import { parseEditableTree } from './model/edit-node.ts';
import {
  type BuilderApi,
  type BuilderDocument,
  listOpenWindows,
  type OpenedForm,
  openBuilderApi,
  openUnsavedEdits,
} from './saving/autosave.ts';
import { waitForLastSave } from './saving/use-saving.ts';

/** The builder of the form in the address (docs/rules.md B1-B7). */
export function BuilderScreen(): ReactElement {
  const form = useCurrentForm();
  useTitle(`Build ${form.name}`);
  const api = useMemo(() => openBuilderApi(form.workspace_id, form.id), [form.workspace_id, form.id]);
  // Loads the form once per visit, because the editor is ahead of the server from then on. A user who returns
  // quickly gets fresh data, not the cached data from the start of the last visit.
  const [visit] = useState(() => performance.now());
  const query = useQuery({
    queryKey: ['builder', form.id, visit],
    queryFn: async () => {
      await waitForLastSave(form.id);
      const [opened, windows] = await Promise.all([api.read(), listOpenWindows()]);
      return { opened, windows };
    },
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (query.data) return <OpenedBuilder key={form.id} {...query.data} api={api} />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <div className="builder-loading">
      <Loading lines={6} label="Opening the form …" />
    </div>
  );
}

/**
 * Decides what to edit: unsaved changes from an earlier visit if there are any, otherwise the working copy.
 */
function OpenedBuilder({
  opened,
  windows,
  api,
}: {
  opened: OpenedForm;
  windows: ReadonlySet<string>;
  api: BuilderApi;
}): ReactElement {
  const { user } = useSession();
  const [start, setStart] = useState<'draft' | 'live'>('draft');
  const [work] = useState(() =>
    openUnsavedEdits({ userId: user.id, formId: opened.form.id }).take(
      opened.draft as BuilderDocument,
      windows,
    ),
  );
  const { structure, settings } = opened[start];
  const saved = parseEditableTree(structure);
  if (!saved.ok) {
    return (
      <div className="builder-loading">
        <Message
          tone="bad"
          title="The working copy is not a valid form"
          action={<Button onPress={() => setStart('live')}>Start again from the live form</Button>}
        >
          The saved JSON does not consist of steps and elements: {saved.problems[0]?.message}
        </Message>
      </div>
    );
  }
  const rescued = work && start === 'draft' ? parseEditableTree(work.structure) : undefined;
  const isRescue = rescued?.ok === true;
  return (
    <Builder
      opened={opened}
      api={api}
      userId={user.id}
      saved={start === 'draft' ? { root: saved.root, settings } : undefined}
      edited={
        isRescue && work ? { root: rescued.root, settings: work.settings } : { root: saved.root, settings }
      }
      rescued={isRescue ? work : undefined}
    />
  );
}
