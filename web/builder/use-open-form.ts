import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { isSameJson } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { isStale } from '../api/client.ts';
import type { Seen } from '../api/operations.ts';
import { readOptions } from '../conditions/condition-tree.ts';
import { copyText } from '../design/copy-button.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshForm, useForm } from '../shell/form-place.ts';
import { mayEdit } from '../shell/session.ts';
import { type Editor, openEditor } from './editor/editor.ts';
import type { Edited } from './editor/editor-state.ts';
import { type BuilderPlace, useEditorState } from './editor/use-editor.ts';
import { replaceContent } from './model/edit.ts';
import { type EditNode, readStructure, textOf, toStructure, walkNodes } from './model/edit-node.ts';
import { idsOf } from './model/element-ids.ts';
import type { Moment } from './model/history.ts';
import type { Resolution } from './publish/save-state.tsx';
import {
  type BuilderApi,
  type BuilderForm,
  type FormDocument,
  type KeptWork,
  mergeDocuments,
} from './saving/autosave.ts';
import { documentOf, type Saving, useSaving } from './saving/use-saving.ts';

/** What the builder starts from. */
export type OpenedForm = {
  readonly opened: BuilderForm;
  readonly api: BuilderApi;
  readonly userId: string;
  /** The working copy of the service; undefined when it cannot be read, and `edited` is to replace it. */
  readonly saved: Pick<Moment, 'root' | 'settings'> | undefined;
  readonly edited: Pick<Moment, 'root' | 'settings'>;
  /** What an earlier visit could not save, when that is what is edited. */
  readonly rescued: KeptWork | undefined;
};

/** What becomes the content of the editor; without settings, those of the editor stay. */
export type TakenOver = { readonly structure: object; readonly settings?: Settings | null };

/** A form that is open: what the service said of it last, its editor, its saving, and what is done with all of them. */
export type OpenForm = {
  readonly opened: BuilderForm;
  readonly place: BuilderPlace;
  readonly saving: Saving;
  readonly setOpened: Dispatch<SetStateAction<BuilderForm>>;
  /** Makes a document the content of the editor, as one step that undo takes back. */
  readonly takeOver: (document: TakenOver) => void;
  /** Saves what is not saved and publishes it; throws what was refused. */
  readonly publish: () => Promise<void>;
  /** Changes what holds at once, from what is seen here; throws what was refused. */
  readonly changeLive: (change: (seen: Seen) => Promise<ReplyOf<'changeForm'>>) => Promise<void>;
  /** Whether somebody else saved what differs in the same part, so that the person has to decide. */
  readonly isClash: boolean;
  readonly resolve: (resolution: Resolution, theirs: BuilderForm) => Promise<void>;
};

export function useOpenForm({ opened: first, api, userId, saved, edited, rescued }: OpenedForm): OpenForm {
  const isReadOnly = !mayEdit(useForm().role);
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
  const takeOver = useCallback((document: TakenOver): void => replaceForm(editor, document), [editor]);
  useFreshName(editor, saving, first.form.id);
  const isClash = useMerging({ editor, saving, api, setOpened });

  const lookAgain = async (): Promise<void> => {
    const found = await api.read();
    setOpened({ ...found, draft: { ...found.draft, base_version: autosave.baseVersion() } });
  };
  // Somebody was quicker: the person sees what is live now, and decides again.
  const lookAtTheirs = async (error: unknown): Promise<never> => {
    if (isStale(error)) await lookAgain();
    throw error;
  };
  const publish = async (): Promise<void> => {
    if (!(await autosave.saveNow())) throw new Error('The working copy could not be saved first.');
    const seen = { etag: autosave.etag(), version: opened.live.version };
    const after = await api.publish(seen).catch(lookAtTheirs);
    // A publication changes no working copy: here rests what was saved here last, and not what somebody else saved in this moment.
    autosave.rebase({ etag: autosave.etag(), baseVersion: after.live.version });
    setOpened(after);
    await refreshForm(opened.form.id);
    const { public_url: url, status } = opened.form;
    // What went live has a dialog of its own.
    if (status !== 'published') return;
    const run = async (): Promise<void> =>
      toastDone((await copyText(url)) === 'copied' ? 'The link is copied.' : `The link is ${url}`);
    toastDone('Published. Visitors see this form now.', { label: 'Copy link', run });
  };

  const changeLive: OpenForm['changeLive'] = async (change) => {
    const { status, updated_at, published_at } = await change(opened.form).catch(lookAtTheirs);
    // The editor is ahead of the service: of the answer only what holds at once is news.
    setOpened((now) => ({ ...now, form: { ...now.form, status, updated_at, published_at } }));
    await refreshForm(opened.form.id);
  };

  const resolve = async (resolution: Resolution, theirs: BuilderForm): Promise<void> => {
    if (resolution === 'copy') {
      const { id } = await api.copyAsNewForm(documentOf(editor.read().history.present));
      const run = async (): Promise<void> => location.assign(`/app/forms/${id}`);
      toastDone('Yours is a form of its own now.', { label: 'Open it', run });
    }
    setOpened(theirs);
    rebaseOn(autosave, theirs);
    if (resolution !== 'mine') takeOver(theirs.draft);
    await autosave.saveNow();
  };
  return { opened, place, saving, setOpened, takeOver, publish, changeLive, isClash, resolve };
}

function rebaseOn(autosave: Saving['autosave'], { draft }: BuilderForm): void {
  autosave.rebase({
    etag: draft.etag,
    baseVersion: draft.base_version,
    saved: draft as FormDocument,
  });
}

type Merging = Pick<OpenForm, 'saving' | 'setOpened'> & { readonly editor: Editor; readonly api: BuilderApi };

/**
 * When somebody else saved another part meanwhile, takes theirs in beside mine and goes on saving.
 * @returns whether it cannot: both changed the same part, or the service cannot be asked.
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
      const merged = base && mergeDocuments(base, mine, theirs.draft as FormDocument);
      if (isOver) return;
      if (!merged) return setClash(true);
      setOpened(theirs);
      rebaseOn(autosave, theirs);
      const edit = replacementOf(merged);
      if (edit) editor.merge(edit, { base: base.settings, theirs: theirs.draft.settings });
      toastDone(
        `${theirs.draft.saved_by ?? 'Somebody else'} changed another part of this form. It has both now.`,
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

/** The header and the list call a form that is a draft what its working copy is called, once that is saved. */
function useFreshName(editor: Editor, { state }: Saving, formId: string): void {
  const name = textOf(useEditorState(editor).history.present.root, 'name');
  const shown = useRef(name);
  const isSaved = state.kind === 'saved';
  useEffect(() => {
    if (!isSaved || shown.current === name) return;
    shown.current = name;
    void refreshForm(formId);
  }, [isSaved, name, formId]);
}

function replaceForm(editor: Editor, document: TakenOver): void {
  const edit = replacementOf(document);
  if (edit) editor.replace(edit);
}

function replacementOf({ structure, settings }: TakenOver): ((old: EditNode) => Edited) | undefined {
  const read = readStructure(structure);
  if (!read.ok) return undefined;
  return (old) => ({
    // Who writes in what is the same goes on.
    ...(isSameJson(toStructure(old), structure)
      ? { root: old }
      : { root: replaceContent(old, read.root), select: old.key, focus: 'node' }),
    ...(settings && { settings }),
  });
}

/** The ids of what was published: answers are stored under them. */
function lockedIn(opened: BuilderForm): ReadonlySet<string> {
  const root = publishedRoot(opened);
  return root ? idsOf(root) : new Set();
}

function optionsIn(opened: BuilderForm): BuilderPlace['publishedOptions'] {
  const root = publishedRoot(opened);
  const nodes = root ? [...walkNodes(root)] : [];
  const attributes = nodes.flatMap((node) =>
    Object.entries(node.attrs).map(([name, value]) => [`${textOf(node, 'id')} ${name}`, value] as const),
  );
  return new Map(
    attributes.map(([place, value]) => [place, new Set(readOptions(value).map(({ id }) => id))]),
  );
}

function publishedRoot({ form, live }: BuilderForm): EditNode | undefined {
  const read = form.published_at === null ? undefined : readStructure(live.structure);
  return read?.ok ? read.root : undefined;
}
