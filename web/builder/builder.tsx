import { type ReactElement, useCallback, useEffect, useMemo, useState } from 'react';
import { isSameJson } from '#ast/basics/json.ts';
import { changedSettings } from '#ast/settings.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import type { BuilderView } from './builder-address.ts';
import { BuilderHeader } from './builder-header.tsx';
import { DesignView } from './design-view.tsx';
import type { Editor } from './editor/editor.ts';
import { BuilderContext, useEditorState } from './editor/use-editor.ts';
import { type JsonDraft, JsonView } from './json.tsx';
import { LanguagesView } from './languages/languages-view.tsx';
import { LiveChangedNotice } from './live-changed.tsx';
import { type NodeKey, parseEditableTree, toStructure } from './model/edit-node.ts';
import { findProblems, type LocatedProblem, problemsByKey } from './model/form-problems.ts';
import type { EditSnapshot } from './model/history.ts';
import { BrokenReferencesDialog } from './panel/logic.tsx';
import { PreviewView } from './preview/preview.tsx';
import { FormLiveDialog, PublishDialog } from './publish/publish-dialog.tsx';
import { ConflictDialog } from './publish/save-state.tsx';
import type { BuilderApi } from './saving/autosave.ts';
import { type AutosaveAndState, useLeaveWarning } from './saving/use-saving.ts';
import {
  findSettingProblems,
  focusSetting,
  type SettingProblem,
  viewOfSetting,
} from './settings/settings-values.ts';
import { SettingsView } from './settings/settings-view.tsx';
import { ShareView } from './share/share-view.tsx';
import { ShortcutsDialog } from './shortcuts/shortcuts-dialog.tsx';
import { useShortcuts } from './shortcuts/use-shortcuts.ts';
import { ThemeView } from './theme/theme-view.tsx';
import { useAddress, useSelectionAddress } from './use-address.ts';
import { type BuilderStart, type OpenForm, type ReplacementDocument, useOpenForm } from './use-open-form.ts';
import { VersionsView } from './versions.tsx';
import { ViewTabs } from './view-tabs.tsx';

type Viewing = {
  readonly view: BuilderView;
  readonly setView: (view: BuilderView) => void;
  /** Undoes or redoes a change and opens the view that shows it, so that no change happens out of sight. */
  readonly travel: (step: 'undo' | 'redo') => void;
};

function useView(editor: Editor): Viewing {
  const [{ view = 'design' }, change] = useAddress();
  const setView = useCallback(
    (next: BuilderView) => {
      if (next !== view) change({ view: next, panel: undefined }, 'push');
    },
    [view, change],
  );
  const travel = useCallback(
    (step: 'undo' | 'redo') => {
      const before = editor.read().history.present;
      editor[step]();
      const after = editor.read().history.present;
      setView(viewOfChange(before, after, view));
    },
    [editor, view, setView],
  );
  return { view, setView, travel };
}

/** The views that show changes of the form. */
const showForm: ReadonlySet<BuilderView> = new Set(['design', 'preview', 'theme', 'languages', 'json']);

function viewOfChange(before: EditSnapshot, after: EditSnapshot, now: BuilderView): BuilderView {
  if (before.root !== after.root) return showForm.has(now) ? now : 'design';
  const [changed] = changedSettings(before.settings, after.settings);
  return changed === undefined ? now : viewOfSetting(changed);
}

/** A form open in the builder: its header, its views, and their dialogs. */
export function Builder(start: BuilderStart): ReactElement {
  const form = useOpenForm(start);
  const { opened, place, saving, setOpened, takeOver } = form;
  const { editor } = place;
  const { autosave, state } = saving;
  const { history, message } = useEditorState(editor);
  const { present } = history;
  const { root, settings } = present;
  const problems = useMemo(() => findProblems(root), [root]);
  const { has_password: hasPassword } = opened.form;
  const settingProblems = useMemo(
    () => findSettingProblems(root, settings, hasPassword),
    [root, settings, hasPassword],
  );
  const isLive = useMemo(() => isWhatVisitorsSee(opened, { root, settings }), [opened, root, settings]);
  const { view, setView, travel } = useView(editor);
  useSelectionAddress(editor);
  // Kept here so that unapplied JSON survives a switch to another view.
  const [json, setJson] = useState<JsonDraft>();
  useLeaveWarning(json !== undefined);
  const [settingToFocus, setSettingToFocus] = useState<SettingProblem>();
  useEffect(() => {
    if (settingToFocus?.view !== view) return;
    focusSetting(settingToFocus);
    setSettingToFocus(undefined);
  }, [settingToFocus, view]);
  const [isPublishing, setPublishing] = useState(false);
  const [isConflictPut, setConflictPut] = useState(false);
  const save = useCallback(() => void autosave.saveNow(), [autosave]);
  const [isListing, setListing] = useState(false);
  const list = useCallback(() => setListing(true), []);
  useShortcuts({ travel, save, list });

  const show = (place: NodeKey | SettingProblem): void => {
    setPublishing(false);
    if (typeof place === 'string') {
      setView('design');
      editor.select(place, 'panel');
    } else {
      setView(place.view);
      setSettingToFocus(place);
    }
  };
  const [isLaunched, setLaunched] = useState(false);
  const publish = async (): Promise<void> => {
    const wasLive = opened.form.status === 'published';
    await form.publish();
    setPublishing(false);
    setLaunched(!wasLive);
  };
  const withBase = { ...opened, draft: { ...opened.draft, base_version: autosave.baseVersion() } };
  return (
    <BuilderContext value={place}>
      <div className="builder">
        <h1 className="unseen">Builder</h1>
        {view === 'design' && (
          <button
            type="button"
            className="skip-link"
            onClick={() => editor.select(present.selection, 'node')}
          >
            Skip to the form
          </button>
        )}
        <BuilderHeader
          opened={opened}
          api={start.api}
          saveState={state}
          isJsonOpen={json !== undefined}
          problemCount={problems.length + settingProblems.length}
          isLive={isLive}
          onPublish={() => setPublishing(true)}
          onConflict={() => setConflictPut(false)}
          changeLive={form.changeLive}
          onShortcuts={list}
        />
        <ViewTabs
          view={view}
          problems={countByView(problems, settingProblems)}
          onChange={setView}
          onTravel={travel}
        />
        <LiveChangedNotice opened={opened} autosave={autosave} onTakeOver={takeOver} onOpened={setOpened} />
        <Refused saving={saving} />
        <CurrentView
          view={view}
          api={start.api}
          form={form}
          problems={problems}
          settingProblems={settingProblems}
          json={json}
          onJson={setJson}
          onView={setView}
          onPublish={() => setPublishing(true)}
        />
        <div className="unseen" role="status" aria-live="assertive" data-announcer>
          {message}
        </div>
        <BrokenReferencesDialog />
        <ShortcutsDialog isOpen={isListing} onClose={() => setListing(false)} />
        {isPublishing && (
          <PublishDialog
            api={start.api}
            etag={autosave.etag()}
            edited={present}
            opened={withBase}
            problems={problems}
            settingProblems={settingProblems}
            isJsonOpen={json !== undefined}
            onClose={() => setPublishing(false)}
            onPublish={publish}
            onShow={show}
          />
        )}
        {isLaunched && <FormLiveDialog form={opened.form} onClose={() => setLaunched(false)} />}
        {form.isClash && !isConflictPut && (
          <ConflictDialog
            api={start.api}
            mine={present}
            onResolve={form.resolve}
            onLater={() => setConflictPut(true)}
          />
        )}
      </div>
    </BuilderContext>
  );
}

function isWhatVisitorsSee(
  { form, live }: BuilderStart['opened'],
  { root, settings }: Pick<EditSnapshot, 'root' | 'settings'>,
): boolean {
  if (form.status !== 'published' || !isSameJson(live.settings, settings)) return false;
  const read = parseEditableTree(live.structure);
  return read.ok && JSON.stringify(toStructure(read.root)) === JSON.stringify(toStructure(root));
}

const countByView = (
  problems: readonly LocatedProblem[],
  settingProblems: readonly SettingProblem[],
): Partial<Record<BuilderView, number>> => ({
  design: problems.length,
  theme: settingProblems.filter(({ view }) => view === 'theme').length,
  languages: settingProblems.filter(({ view }) => view === 'languages').length,
  settings: settingProblems.filter(({ view }) => view === 'settings').length,
});

type CurrentViewProps = {
  readonly view: BuilderView;
  readonly api: BuilderApi;
  readonly form: OpenForm;
  readonly problems: readonly LocatedProblem[];
  readonly settingProblems: readonly SettingProblem[];
  readonly json: JsonDraft | undefined;
  readonly onJson: (draft: JsonDraft | undefined) => void;
  readonly onView: (view: BuilderView) => void;
  readonly onPublish: () => void;
};

function CurrentView({
  view,
  api,
  form,
  problems,
  settingProblems,
  json,
  onJson,
  onView,
  onPublish,
}: CurrentViewProps): ReactElement {
  const { opened, saving, setOpened, takeOver } = form;
  const byKey = useMemo(() => problemsByKey(problems), [problems]);
  const restore = (version: ReplacementDocument): void => {
    takeOver(version);
    onView('design');
  };
  const setPassword = async (password: string): Promise<void> => {
    await form.changeLive((seen) => api.setPassword(password, seen));
    setOpened((now) => ({ ...now, form: { ...now.form, has_password: true } }));
  };
  const views: Readonly<Record<BuilderView, () => ReactElement>> = {
    design: () => <DesignView problems={byKey} api={api} />,
    preview: () => <PreviewView formId={opened.form.id} saving={saving} />,
    theme: () => <ThemeView form={opened.form} saving={saving} problems={settingProblems} />,
    languages: () => <LanguagesView problems={problems} settingProblems={settingProblems} />,
    settings: () => (
      <SettingsView
        setPassword={setPassword}
        hasPassword={opened.form.has_password}
        problems={settingProblems}
      />
    ),
    share: () => <ShareView opened={opened} onPublish={onPublish} />,
    versions: () => <VersionsView api={api} opened={opened} onRestore={restore} />,
    json: () => <JsonView draft={json} onDraft={onJson} />,
  };
  return views[view]();
}

/** Shows why the server refused to save, and tells the user that no changes are lost. */
function Refused({ saving: { state, autosave } }: { saving: AutosaveAndState }): ReactElement | null {
  if (state.kind !== 'refused') return null;
  return (
    <div className="builder-note">
      <Message
        tone="bad"
        title="Your last changes are not saved"
        action={<Button onPress={() => void autosave.saveNow()}>Try again</Button>}
      >
        {state.message}{' '}
        {state.isStored
          ? 'They are kept in this browser.'
          : 'This browser has no space to keep them. Leave this window open until they are saved.'}
      </Message>
    </div>
  );
}
