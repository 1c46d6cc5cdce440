import { type ReactElement, useCallback, useMemo, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { mayEdit } from '../shell/session.ts';
import { refreshForm, useForm } from '../shell/form-place.ts';
import { toastDone } from '../design/toast.tsx';
import { BuilderHeader } from './builder-header.tsx';
import { openEditor } from './editor/editor.ts';
import { BuilderContext, useEditorState } from './editor/use-editor.ts';
import { JsonView } from './json/json-view.tsx';
import { LiveChanged } from './live-changed.tsx';
import { type EditNode, type NodeKey, readStructure, toStructure } from './model/edit-node.ts';
import { idsOf } from './model/element-ids.ts';
import { replaceContent } from './model/edit.ts';
import { findProblems, problemsByKey } from './model/located-problems.ts';
import { PreviewView } from './preview/preview-view.tsx';
import { PublishDialog } from './publish/publish-dialog.tsx';
import { type BuilderForm, copyAsNewForm, publishDraft } from './saving/builder-api.ts';
import { ConflictDialog, type Resolution } from './saving/conflict-dialog.tsx';
import type { KeptWork } from './saving/kept-work.ts';
import { useSaving } from './saving/use-saving.ts';
import { SettingsView } from './settings/settings-view.tsx';
import { ShareView } from './share/share-view.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { VersionsView } from './versions/versions-view.tsx';
import { DesignView } from './design-view.tsx';
import { type BuilderView, ViewTabs } from './view-tabs.tsx';

type BuilderProps = {
  readonly opened: BuilderForm;
  readonly path: string;
  readonly userId: string;
  readonly savedRoot: EditNode;
  /** What an earlier visit could not save; it is edited on, and saved first. */
  readonly rescued?: { readonly work: KeptWork; readonly root: EditNode };
  /** The working copy was unreadable: what is edited is to replace it. */
  readonly isRestart: boolean;
};

/** One form open in the builder: the editor, its saving, and the views on it. */
export function Builder({ opened: first, path, userId, savedRoot, rescued, isRestart }: BuilderProps): ReactElement {
  const role = useForm().role;
  const [opened, setOpened] = useState(first);
  const [editor] = useState(() => openEditor(rescued?.root ?? savedRoot, () => performance.now()));
  const { history, message } = useEditorState(editor);
  const { root } = history.present;
  const start = rescued ? { ...first, draft: { ...first.draft, revision: rescued.work.revision, base_version: rescued.work.base_version } } : first;
  const { autosave, state } = useSaving({ editor, opened: start, path, userId, savedRoot: isRestart ? undefined : savedRoot });
  const [view, setView] = useState<BuilderView>('design');
  const [dialog, setDialog] = useState<'publish' | undefined>();
  const [isConflictPut, setConflictPut] = useState(false);
  const [settings, setSettings] = useState(first.form.settings as Settings);
  useShortcuts(editor, useCallback(() => void autosave.saveNow(), [autosave]));

  const problems = useMemo(() => findProblems(root), [root]);
  const byKey = useMemo(() => problemsByKey(problems), [problems]);
  const lockedIds = useMemo(() => lockedIn(opened), [opened]);
  const isReadOnly = !mayEdit(role);
  const place = useMemo(() => ({ editor, lockedIds, isReadOnly }), [editor, lockedIds, isReadOnly]);

  const show = (key: NodeKey): void => {
    setDialog(undefined);
    setView('design');
    editor.select(key, 'panel');
  };
  const publish = async (): Promise<void> => {
    if (!(await autosave.saveNow())) throw new Error('The working copy could not be saved first.');
    const published = await publishDraft(path, { revision: autosave.revision(), version: opened.live.version });
    autosave.rebase({ revision: published.draft.revision, baseVersion: published.live.version });
    setOpened(published);
    setDialog(undefined);
    await refreshForm(opened.form.id);
    toastDone('Published. Visitors see this form now.');
  };
  const takeOver = (structure: object): void => {
    const read = readStructure(structure);
    if (read.ok) editor.change((old) => ({ root: replaceContent(old, read.root), select: old.key, focus: 'node' }));
  };
  const resolve = async (resolution: Resolution, theirs: BuilderForm): Promise<void> => {
    if (resolution === 'copy') {
      const copy = await copyAsNewForm(path, toStructure(root));
      toastDone('Yours is a form of its own now.', { label: 'Open it', run: () => location.assign(`/app/forms/${copy.id}`) });
    }
    setOpened(theirs);
    autosave.rebase({ revision: theirs.draft.revision, baseVersion: theirs.draft.base_version });
    if (resolution !== 'mine') takeOver(theirs.draft.structure);
    await autosave.saveNow();
  };

  const keepSettings = (saved: Settings): void => {
    setSettings(saved);
    setOpened({ ...opened, form: { ...opened.form, settings: saved } });
  };

  return (
    <BuilderContext value={place}>
      <div className="builder">
        <BuilderHeader opened={opened} saveState={state} onPublish={() => setDialog('publish')} problemCount={problems.length} onConflict={() => setConflictPut(false)} onOpened={setOpened} path={path} />
        <ViewTabs view={view} onChange={setView} />
        <LiveChanged opened={opened} autosave={autosave} onTakeOver={takeOver} onOpened={setOpened} />
        {view === 'design' && <DesignView problems={byKey} path={path} />}
        {view === 'preview' && <PreviewView root={root} settings={opened.form.settings} />}
        {view === 'json' && <JsonView />}
        {view === 'versions' && <VersionsView path={path} opened={opened} onRestore={(structure) => { takeOver(structure); setView('design'); }} />}
        {view === 'settings' && <SettingsView path={path} opened={opened} draft={settings} onDraft={setSettings} onSaved={keepSettings} />}
        {view === 'share' && <ShareView opened={opened} onPublish={() => setDialog('publish')} />}
        <div className="unseen" role="status" aria-live="assertive" data-announcer>
          {message}
        </div>
        {dialog === 'publish' && (
          <PublishDialog root={root} opened={{ ...opened, draft: { ...opened.draft, base_version: autosave.baseVersion() } }} problems={problems} onClose={() => setDialog(undefined)} onPublish={publish} onShow={show} />
        )}
        {state.kind === 'conflict' && !isConflictPut && <ConflictDialog path={path} mine={root} onResolve={resolve} onLater={() => setConflictPut(true)} />}
      </div>
    </BuilderContext>
  );
}

/** The ids of what was published: answers are stored under them. */
function lockedIn({ form, live }: BuilderForm): ReadonlySet<string> {
  const read = form.published_at === null ? undefined : readStructure(live.structure);
  return read?.ok ? idsOf(read.root) : new Set();
}
