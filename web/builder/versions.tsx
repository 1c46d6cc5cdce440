import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Message } from '../design/message.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { formatDateTime } from '../design/time.tsx';
import { toastProblem } from '../design/toast.tsx';
import { editWithUndoToast, useBuilder, useEditorState } from './editor/use-editor.ts';
import { compareDocuments, DifferenceList } from './publish/publish-dialog.tsx';
import type { BuilderApi, OpenedForm, VersionDetail } from './saving/autosave.ts';
import './versions.css';

type VersionsProps = {
  readonly api: BuilderApi;
  readonly opened: OpenedForm;
  /** Restores a version to the working copy. */
  readonly onRestore: (version: VersionDetail) => void;
};

/** Lists all live versions. Each can be restored to the working copy. */
export function VersionsView({ api, opened, onRestore }: VersionsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const [shown, setShown] = useState<VersionDetail | undefined>();
  const versions = useInfiniteQuery({
    queryKey: ['versions', api.formId, opened.live.version],
    queryFn: ({ pageParam }) => api.versions(pageParam),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) =>
      pagination.page < pagination.total_pages ? pagination.page + 1 : undefined,
  });
  const open = (version: number): void => {
    api.version(version).then(setShown, toastProblem);
  };
  const restore = (version: VersionDetail): void => {
    setShown(undefined);
    const text = `Version ${version.version} is now the working copy.`;
    editWithUndoToast(editor, () => onRestore(version), text);
  };
  return (
    <div className="builder-page">
      <div className="stack">
        <div>
          <h2>History</h2>
          <p className="soft">
            The form as it was created, and every version that was published or changed through the API.
            Restoring a version changes the working copy. Visitors see it after you publish.
          </p>
        </div>
        {versions.isPending && <Loading lines={4} />}
        {versions.error && <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />}
        {versions.data && (
          <ol role="list" className="versions">
            {versions.data.pages
              .flatMap(({ data }) => data)
              .map((version) => (
                <li key={version.version} className="versions-item">
                  <div>
                    <p>
                      <strong>Version {version.version}</strong>{' '}
                      {version.is_live && (
                        <Chip tone="good">{opened.form.status === 'published' ? 'Live' : 'Latest'}</Chip>
                      )}
                    </p>
                    <p className="soft small">
                      {formatDateTime(version.created_at)} · {version.created_by ?? 'through the API'} ·{' '}
                      {version.name}
                    </p>
                  </div>
                  <Button size="small" onPress={() => open(version.version)}>
                    Compare and restore
                  </Button>
                </li>
              ))}
          </ol>
        )}
        {versions.hasNextPage && (
          <Button onPress={() => void versions.fetchNextPage()} isPending={versions.isFetchingNextPage}>
            Show older versions
          </Button>
        )}
      </div>
      {shown && (
        <VersionDialog
          version={shown}
          isReadOnly={isReadOnly}
          onClose={() => setShown(undefined)}
          onRestore={restore}
        />
      )}
    </div>
  );
}

type DialogProps = {
  version: VersionDetail;
  isReadOnly: boolean;
  onClose: () => void;
  onRestore: (version: VersionDetail) => void;
};

function VersionDialog({ version, isReadOnly, onClose, onRestore }: DialogProps): ReactElement {
  const { editor } = useBuilder();
  const differences = compareDocuments(version, useEditorState(editor).history.present, 'edited');
  return (
    <Dialog
      title={`Version ${version.version}`}
      onClose={onClose}
      size="medium"
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button
            variant="primary"
            icon="history"
            isDisabled={isReadOnly || differences?.length === 0}
            onPress={() => onRestore(version)}
          >
            Restore to working copy
          </Button>
        </>
      }
    >
      <h3>Changes to your working copy</h3>
      {differences && (
        <DifferenceList differences={differences} none="No changes: the working copy matches this version." />
      )}
      {!version.settings && (
        <Message>This version has no recorded settings. The working copy keeps its current settings.</Message>
      )}
    </Dialog>
  );
}
