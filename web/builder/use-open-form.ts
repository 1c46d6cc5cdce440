import { type Dispatch, type SetStateAction, useEffect, useMemo, useRef, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { ApiProblem } from '../api/client.ts';
import { toastDone } from '../design/toast.tsx';
import { refreshForm, useForm } from '../shell/form-place.ts';
import { mayEdit } from '../shell/session.ts';
import { type Editor, openEditor } from './editor/editor.ts';
import type { BuilderPlace } from './editor/use-editor.ts';
import { replaceContent } from './model/edit.ts';
import { type EditNode, readStructure, toStructure } from './model/edit-node.ts';
import { idsOf } from './model/element-ids.ts';
import { type BuilderForm, copyAsNewForm, publishDraft, readBuilder } from './saving/builder-api.ts';
import type { Resolution } from './saving/conflict-dialog.tsx';
import type { KeptWork } from './saving/kept-work.ts';
import { type Saving, useSaving } from './saving/use-saving.ts';

/** What the builder starts from. */
export type OpenedForm = {
  readonly opened: BuilderForm;
  readonly path: string;
  readonly userId: string;
  /** The working copy of the service; undefined when it cannot be read, and `root` is to replace it. */
  readonly savedRoot: EditNode | undefined;
  /** What is edited. */
  readonly root: EditNode;
  /** What an earlier visit could not save, when that is what is edited. */
  readonly rescued: KeptWork | undefined;
};

/** A form that is open: what the service said of it last, its editor, its saving, and what is done with all of them. */
export type OpenForm = {
  readonly opened: BuilderForm;
  readonly place: BuilderPlace;
  readonly saving: Saving;
  readonly setOpened: Dispatch<SetStateAction<BuilderForm>>;
  readonly setSettings: (settings: Settings) => void;
  /** Makes a structure the content of the editor, as one step that undo takes back. */
  readonly takeOver: (structure: object) => void;
  /** Saves what is not saved and publishes it; throws what was refused. */
  readonly publish: () => Promise<void>;
  readonly resolve: (resolution: Resolution, theirs: BuilderForm) => Promise<void>;
};

export function useOpenForm({ opened: first, path, userId, savedRoot, root, rescued }: OpenedForm): OpenForm {
  const isReadOnly = !mayEdit(useForm().role);
  const [opened, setOpened] = useState(first);
  const published = useRef(lockedIn(first));
  const [editor] = useState(() =>
    openEditor(root, {
      now: () => performance.now(),
      isReadOnly,
      publishedIds: () => published.current,
    }),
  );
  const base = rescued ? { revision: rescued.revision, base_version: rescued.base_version } : {};
  const saving = useSaving({
    editor,
    opened: { ...first, draft: { ...first.draft, ...base } },
    path,
    userId,
    savedRoot,
  });
  const { autosave } = saving;
  const lockedIds = useMemo(() => lockedIn(opened), [opened]);
  useEffect(() => {
    published.current = lockedIds;
  }, [lockedIds]);
  const place = useMemo(() => ({ editor, lockedIds, isReadOnly }), [editor, lockedIds, isReadOnly]);
  const takeOver = (structure: object): void => replaceForm(editor, structure);

  const lookAgain = async (): Promise<void> => {
    const found = await readBuilder(path);
    setOpened({ ...found, draft: { ...found.draft, base_version: autosave.baseVersion() } });
  };
  const publish = async (): Promise<void> => {
    if (!(await autosave.saveNow())) throw new Error('The working copy could not be saved first.');
    const seen = { revision: autosave.revision(), version: opened.live.version };
    const published = await publishDraft(path, seen).catch(async (error: unknown) => {
      // Somebody was quicker: the person sees what is live now, and decides again.
      if (error instanceof ApiProblem && error.status === 412) await lookAgain();
      throw error;
    });
    autosave.rebase({ revision: published.draft.revision, baseVersion: published.live.version });
    setOpened(published);
    await refreshForm(opened.form.id);
    toastDone('Published. Visitors see this form now.');
  };

  const resolve = async (resolution: Resolution, theirs: BuilderForm): Promise<void> => {
    if (resolution === 'copy') {
      const { id } = await copyAsNewForm(path, toStructure(editor.read().history.present.root));
      const run = (): void => location.assign(`/app/forms/${id}`);
      toastDone('Yours is a form of its own now.', { label: 'Open it', run });
    }
    setOpened(theirs);
    autosave.rebase({ revision: theirs.draft.revision, baseVersion: theirs.draft.base_version });
    if (resolution !== 'mine') takeOver(theirs.draft.structure);
    await autosave.saveNow();
  };

  const setSettings = (settings: Settings): void =>
    setOpened((now) => ({ ...now, form: { ...now.form, settings } }));
  return { opened, place, saving, setOpened, setSettings, takeOver, publish, resolve };
}

function replaceForm(editor: Editor, structure: object): void {
  const read = readStructure(structure);
  if (!read.ok) return;
  editor.change((old) => ({ root: replaceContent(old, read.root), select: old.key, focus: 'node' }));
}

/** The ids of what was published: answers are stored under them. */
function lockedIn({ form, live }: BuilderForm): ReadonlySet<string> {
  const read = form.published_at === null ? undefined : readStructure(live.structure);
  return read?.ok ? idsOf(read.root) : new Set();
}
