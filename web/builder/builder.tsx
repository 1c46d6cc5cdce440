import { type ReactElement, useCallback, useMemo, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { BuilderHeader } from './builder-header.tsx';
import { DesignView } from './design-view.tsx';
import { BuilderContext, useEditorState } from './editor/use-editor.ts';
import { AskedDialog } from './logic/asked-dialog.tsx';
import { type JsonDraft, JsonView } from './json/json-view.tsx';
import { LiveChanged } from './live-changed.tsx';
import { type EditNode, type NodeKey, readStructure, toStructure } from './model/edit-node.ts';
import { findProblems, type LocatedProblem, problemsByKey } from './model/located-problems.ts';
import { PreviewView } from './preview/preview-view.tsx';
import { PublishDialog } from './publish/publish-dialog.tsx';
import { ConflictDialog } from './saving/conflict-dialog.tsx';
import type { Saving } from './saving/use-saving.ts';
import { otherSettings, themeSettings } from './settings/settings-values.ts';
import { SettingsView } from './settings/settings-view.tsx';
import { ShareView } from './share/share-view.tsx';
import { ThemeView } from './theme/theme-view.tsx';
import { type OpenedForm, type OpenForm, useOpenForm } from './use-open-form.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { VersionsView } from './versions/versions-view.tsx';
import { type BuilderView, ViewTabs } from './view-tabs.tsx';

/** One form open in the builder: its header, its views, and the dialogs over them. */
export function Builder(start: OpenedForm): ReactElement {
  const form = useOpenForm(start);
  const { opened, place, saving, setOpened, takeOver } = form;
  const { editor } = place;
  const { autosave, state } = saving;
  const { history, message } = useEditorState(editor);
  const { root } = history.present;
  const problems = useMemo(() => findProblems(root), [root]);
  const isLive = useMemo(() => isWhatVisitorsSee(opened, root), [opened, root]);
  const [view, setView] = useState<BuilderView>('design');
  const [isPublishing, setPublishing] = useState(false);
  const [isConflictPut, setConflictPut] = useState(false);
  const save = useCallback(() => void autosave.saveNow(), [autosave]);
  useShortcuts(editor, save);

  const show = (key: NodeKey): void => {
    setPublishing(false);
    setView('design');
    editor.select(key, 'panel');
  };
  const publish = async (): Promise<void> => {
    await form.publish();
    setPublishing(false);
  };
  const withBase = { ...opened, draft: { ...opened.draft, base_version: autosave.baseVersion() } };
  return (
    <BuilderContext value={place}>
      <div className="builder">
        <h1 className="unseen">Builder</h1>
        <BuilderHeader
          opened={opened}
          path={start.path}
          saveState={state}
          problemCount={problems.length}
          isLive={isLive}
          onPublish={() => setPublishing(true)}
          onConflict={() => setConflictPut(false)}
          onOpened={setOpened}
        />
        <ViewTabs view={view} onChange={setView} />
        <LiveChanged opened={opened} autosave={autosave} onTakeOver={takeOver} onOpened={setOpened} />
        <Refused saving={saving} />
        <CurrentView
          view={view}
          path={start.path}
          form={form}
          problems={problems}
          onView={setView}
          onPublish={() => setPublishing(true)}
        />
        <div className="unseen" role="status" aria-live="assertive" data-announcer>
          {message}
        </div>
        <AskedDialog />
        {isPublishing && (
          <PublishDialog
            root={root}
            opened={withBase}
            problems={problems}
            onClose={() => setPublishing(false)}
            onPublish={publish}
            onShow={show}
          />
        )}
        {state.kind === 'conflict' && !isConflictPut && (
          <ConflictDialog
            path={start.path}
            mine={root}
            onResolve={form.resolve}
            onLater={() => setConflictPut(true)}
          />
        )}
      </div>
    </BuilderContext>
  );
}

function isWhatVisitorsSee({ form, live }: OpenedForm['opened'], root: EditNode): boolean {
  if (form.status !== 'published') return false;
  const read = readStructure(live.structure);
  return read.ok && JSON.stringify(toStructure(read.root)) === JSON.stringify(toStructure(root));
}

type CurrentViewProps = {
  readonly view: BuilderView;
  readonly path: string;
  readonly form: OpenForm;
  readonly problems: readonly LocatedProblem[];
  readonly onView: (view: BuilderView) => void;
  readonly onPublish: () => void;
};

function CurrentView({ view, path, form, problems, onView, onPublish }: CurrentViewProps): ReactElement {
  const { opened, place, takeOver } = form;
  const { root } = useEditorState(place.editor).history.present;
  const byKey = useMemo(() => problemsByKey(problems), [problems]);
  // What is entered there and not saved yet outlives a look at another view.
  const [settings, setSettings] = useState(opened.form.settings as Settings);
  const [json, setJson] = useState<JsonDraft>();
  const keepSettings = (saved: Settings): void => {
    setSettings((draft) => ({ ...otherSettings(saved), ...themeSettings(draft) }));
    form.setSettings(saved);
  };
  const keepTheme = (saved: Settings): void => {
    setSettings((draft) => ({ ...otherSettings(draft), ...themeSettings(saved) }));
    form.setSettings(saved);
  };
  const restore = (structure: object): void => {
    takeOver(structure);
    onView('design');
  };
  const views: Readonly<Record<BuilderView, () => ReactElement>> = {
    design: () => <DesignView problems={byKey} path={path} />,
    preview: () => <PreviewView root={root} formId={opened.form.id} settings={opened.form.settings} />,
    theme: () => (
      <ThemeView
        path={path}
        opened={opened}
        root={root}
        draft={settings}
        onDraft={setSettings}
        onSaved={keepTheme}
      />
    ),
    settings: () => (
      <SettingsView
        path={path}
        opened={opened}
        draft={settings}
        onDraft={setSettings}
        onSaved={keepSettings}
      />
    ),
    share: () => <ShareView opened={opened} onPublish={onPublish} />,
    versions: () => <VersionsView path={path} opened={opened} onRestore={restore} />,
    json: () => <JsonView draft={json} onDraft={setJson} />,
  };
  return views[view]();
}

/** The service refused to save: why, and that nothing is lost. */
function Refused({ saving: { state, autosave } }: { saving: Saving }): ReactElement | null {
  if (state.kind !== 'refused') return null;
  return (
    <div className="builder-note">
      <Message
        tone="bad"
        title="The last changes are not saved"
        action={<Button onPress={() => void autosave.saveNow()}>Try again</Button>}
      >
        {state.message}{' '}
        {state.isKept
          ? 'They are kept in this browser.'
          : 'This browser has no room to keep them: leave this window open until they are saved.'}
      </Message>
    </div>
  );
}
