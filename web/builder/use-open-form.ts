import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { isSameJson } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { isConcurrentChangeError } from '../api/client.ts';
import type { ChangePrecondition } from '../api/operations.ts';
import { validOptionsOf } from '../conditions/condition-tree.ts';
import { copyText } from '../design/copy-button.tsx';
import { toastDone } from '../design/toast.tsx';
import { mayEdit, refreshForm, useCurrentForm } from '../shell/session.ts';
import { type Editor, openEditor } from './editor/editor.ts';
import type { EditResult } from './editor/editor-state.ts';
import { type BuilderContextValue, useEditorState } from './editor/use-editor.ts';
import { replaceContent } from './model/edit.ts';
import { type EditNode, parseEditableTree, textOf, toStructure, walkNodes } from './model/edit-node.ts';
import { idsOf } from './model/element-ids.ts';
import type { EditSnapshot } from './model/history.ts';
import type { ConflictResolution } from './publish/save-state.tsx';
import {
  type BuilderApi,
  type BuilderDocument,
  mergeDocuments,
  type OpenedForm,
  type UnsavedEdits,
} from './saving/autosave.ts';
import { type AutosaveAndState, documentOf, useSaving } from './saving/use-saving.ts';

/** The initial state of the builder. */
export type BuilderStart = {
  readonly opened: OpenedForm;
  readonly api: BuilderApi;
  readonly userId: string;
  /** The working copy on the server. Undefined if it cannot be read, so that `edited` replaces it. */
  readonly saved: Pick<EditSnapshot, 'root' | 'settings'> | undefined;
  readonly edited: Pick<EditSnapshot, 'root' | 'settings'>;
  /** Unsaved edits from an earlier visit, if the user continues with them. */
  readonly rescued: UnsavedEdits | undefined;
};

/** New content for the editor. Without settings, the editor keeps its settings. */
export type ReplacementDocument = { readonly structure: object; readonly settings?: Settings | null };

/** An open form: the last server response, the editor, autosave, and the actions on them. */
export type OpenForm = {
  readonly opened: OpenedForm;
  readonly place: BuilderContextValue;
  readonly saving: AutosaveAndState;
  readonly setOpened: Dispatch<SetStateAction<OpenedForm>>;
  /** Replaces the content of the editor as one step of history, so it can be undone. */
  readonly takeOver: (document: ReplacementDocument) => void;
  /** Saves pending changes and publishes. Throws if the server refuses to. */
  readonly publish: () => Promise<void>;
  /** Changes what applies immediately, based on the version shown here. Throws if the server refuses. */
  readonly changeLive: (
    change: (seen: ChangePrecondition) => Promise<ReplyOf<'changeForm'>>,
  ) => Promise<void>;
  /** Whether someone else saved a conflicting change, so that the user must decide. */
  readonly isClash: boolean;
  readonly resolve: (resolution: ConflictResolution, theirs: OpenedForm) => Promise<void>;
};

export function useOpenForm({ opened: first, api, userId, saved, edited, rescued }: BuilderStart): OpenForm {
  const isReadOnly = !mayEdit(useCurrentForm().role);
  const [opened, setOpened] = useState(first);
  const published = useRef(lockedIn(first));
  const [editor] = useState(() =>
    openEditor(edited.root, {
      settings: edited.settings,
      now: () => performance.now(),
      isReadOnly,
      publishedIds: () => published.current,
    }),
  );
  const base = rescued ? { etag: rescued.etag, base_version: rescued.base_version } : {};
  const saving = useSaving({
    editor,
    opened: { ...first, draft: { ...first.draft, ...base } },
    api,
    userId,
    saved,
    isRescue: rescued !== undefined,
  });
  const { autosave } = saving;
  const lockedIds = useMemo(() => lockedIn(opened), [opened]);
  useEffect(() => {
    published.current = lockedIds;
  }, [lockedIds]);
  const publishedOptions = useMemo(() => optionsIn(opened), [opened]);
  const place = useMemo(
    () => ({ editor, lockedIds, publishedOptions, isReadOnly }),
    [editor, lockedIds, publishedOptions, isReadOnly],
  );
  const takeOver = useCallback(
    (document: ReplacementDocument): void => replaceForm(editor, document),
    [editor],
  );
  useFreshName(editor, saving, first.form.id);
  const isClash = useMerging({ editor, saving, api, setOpened });

  const lookAgain = async (): Promise<void> => {
    const found = await api.read();
    setOpened({ ...found, draft: { ...found.draft, base_version: autosave.baseVersion() } });
  };
  // Someone else was faster. Loads the new live version, so that the user can decide again.
  const lookAtTheirs = async (error: unknown): Promise<never> => {
    if (isConcurrentChangeError(error)) await lookAgain();
    throw error;
  };
  const publish = async (): Promise<void> => {
    if (!(await autosave.saveNow()))
      throw new Error('The working copy could not be saved, so the form was not published.');
    const seen = { etag: autosave.etag(), version: opened.live.version };
    const after = await api.publish(seen).catch(lookAtTheirs);
    // Publishing does not change the working copy: keep the ETag of the last save here, not of a save by
    // someone else.
    autosave.rebase({ etag: autosave.etag(), baseVersion: after.live.version });
    setOpened(after);
    await refreshForm(opened.form.id);
    const { public_url: url, status } = opened.form;
    // When a form goes live, a dialog is shown instead of a toast.
    if (status !== 'published') return;
    const run = async (): Promise<void> =>
      toastDone((await copyText(url)) === 'copied' ? 'Link copied.' : `The link is ${url}`);
    toastDone('Published. Visitors now see this version.', { label: 'Copy link', run });
  };

  const changeLive: OpenForm['changeLive'] = async (change) => {
    const { status, updated_at, published_at } = await change(opened.form).catch(lookAtTheirs);
    // The editor is ahead of the server, so only fields that apply immediately are updated.
    setOpened((now) => ({ ...now, form: { ...now.form, status, updated_at, published_at } }));
    await refreshForm(opened.form.id);
  };

  const resolve = async (resolution: ConflictResolution, theirs: OpenedForm): Promise<void> => {
    if (resolution === 'copy') {
      const { id } = await api.copyAsNewForm(documentOf(editor.read().history.present));
      const run = async (): Promise<void> => location.assign(`/app/forms/${id}`);
      toastDone('Your version was saved as a new form.', { label: 'Open it', run });
    }
    setOpened(theirs);
    rebaseOn(autosave, theirs);
    if (resolution !== 'mine') takeOver(theirs.draft);
    await autosave.saveNow();
  };
  return { opened, place, saving, setOpened, takeOver, publish, changeLive, isClash, resolve };
}

function rebaseOn(autosave: AutosaveAndState['autosave'], { draft }: OpenedForm): void {
  autosave.rebase({ etag: draft.etag, baseVersion: draft.base_version, saved: draft as BuilderDocument });
}

type Merging = Pick<OpenForm, 'saving' | 'setOpened'> & { readonly editor: Editor; readonly api: BuilderApi };

/**
 * Merges changes that someone else saved in another part of the form, and continues to save.
 * @returns whether merging failed: both changed the same part, or the server cannot be reached.
 */
function useMerging({ editor, saving, api, setOpened }: Merging): boolean {
  const [isClash, setClash] = useState(false);
  const { autosave, state } = saving;
  const isConflict = state.kind === 'conflict';
  useEffect(() => {
    if (!isConflict) return undefined;
    let isOver = false;
    const merge = async (): Promise<void> => {
      const theirs = await api.read();
      const base = autosave.saved();
      const mine = documentOf(editor.read().history.present);
      const merged = base && mergeDocuments(base, mine, theirs.draft as BuilderDocument);
      if (isOver) return;
      if (!merged) return setClash(true);
      setOpened(theirs);
      rebaseOn(autosave, theirs);
      const edit = replacementOf(merged);
      if (edit) editor.merge(edit, { base: base.settings, theirs: theirs.draft.settings });
      toastDone(
        `${theirs.draft.saved_by ?? 'Someone else'} edited another part of this form. Both changes were kept.`,
      );
      await autosave.saveNow();
    };
    merge().catch(() => setClash(true));
    return () => {
      isOver = true;
      setClash(false);
    };
  }, [isConflict, autosave, editor, api, setOpened]);
  return isClash;
}

/**
 * Refreshes the list of forms after a new name is saved, because a draft is listed under the name of its
 * working copy.
 */
function useFreshName(editor: Editor, { state }: AutosaveAndState, formId: string): void {
  const name = textOf(useEditorState(editor).history.present.root, 'name');
  const shown = useRef(name);
  const isSaved = state.kind === 'saved';
  useEffect(() => {
    if (!isSaved || shown.current === name) return;
    shown.current = name;
    void refreshForm(formId);
  }, [isSaved, name, formId]);
}

function replaceForm(editor: Editor, document: ReplacementDocument): void {
  const edit = replacementOf(document);
  if (edit) editor.replace(edit);
}

function replacementOf({
  structure,
  settings,
}: ReplacementDocument): ((old: EditNode) => EditResult) | undefined {
  const read = parseEditableTree(structure);
  if (!read.ok) return undefined;
  return (old) => ({
    // Keeps the current tree if it is equal, so that text editing continues.
    ...(isSameJson(toStructure(old), structure)
      ? { root: old }
      : { root: replaceContent(old, read.root), select: old.key, focus: 'node' }),
    ...(settings && { settings }),
  });
}

/** Returns the ids of published elements, which stored answers use. */
function lockedIn(opened: OpenedForm): ReadonlySet<string> {
  const root = publishedRoot(opened);
  return root ? idsOf(root) : new Set();
}

function optionsIn(opened: OpenedForm): BuilderContextValue['publishedOptions'] {
  const root = publishedRoot(opened);
  const nodes = root ? [...walkNodes(root)] : [];
  const attributes = nodes.flatMap((node) =>
    Object.entries(node.attrs).map(([name, value]) => [`${textOf(node, 'id')} ${name}`, value] as const),
  );
  return new Map(
    attributes.map(([place, value]) => [place, new Set(validOptionsOf(value).map(({ id }) => id))]),
  );
}

function publishedRoot({ form, live }: OpenedForm): EditNode | undefined {
  const read = form.published_at === null ? undefined : parseEditableTree(live.structure);
  return read?.ok ? read.root : undefined;
}
