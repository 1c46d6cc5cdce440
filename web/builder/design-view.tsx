import {
  lazy,
  type ReactElement,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { PipedText } from '../design/author-text.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { afterFocusReturned, ConfirmDialog, Dialog } from '../design/dialog.tsx';
import { toastProblem } from '../design/toast.tsx';
import { useNarrow } from '../design/use-window.ts';
import type { BuilderPanel } from './builder-address.ts';
import { Canvas } from './canvas/canvas.tsx';
import { NodeMenu } from './canvas/canvas-node.tsx';
import { type StartDrag, useDrag } from './canvas/drag.ts';
import { DragHandle } from './canvas/drag-layer.tsx';
import { findNodeElement } from './canvas/page-markup.ts';
import { InsertMenu, type InsertRequest, Palette } from './canvas/palette.tsx';
import { addStep, deleteAndSelectNext } from './editor/commands.ts';
import type { Editor } from './editor/editor.ts';
import { useBuilder, useEditorState } from './editor/use-editor.ts';
import { describeNodes } from './model/compare.ts';
import { stepName } from './model/describe-logic.ts';
import { type EditNode, pathToNode, textOf, walkNodes } from './model/edit-node.ts';
import { type Spot, selectedNodes } from './model/node-positions.ts';
import {
  type ProblemsByKey,
  PropertyPanel,
  titleOfPanel,
  useQuietProblems,
} from './panel/property-panel.tsx';
import type { BuilderApi } from './saving/autosave.ts';
import { NodeCommandContext, useNodeFinderActions, useNodeShortcuts } from './shortcuts/use-shortcuts.ts';
import { useAddress } from './use-address.ts';

const PathsDialog = lazy(async () => ({ default: (await import('./paths/paths-dialog.tsx')).PathsDialog }));

type StepsProps = { readonly list: RefObject<HTMLOListElement | null>; readonly onDrag: StartDrag };

/** The list of steps, in which steps can be opened, dragged, moved, merged and added. */
function StepsList({ list, onDrag }: StepsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const current = pathToNode(root, selection)[1];
  const [, changeAddress] = useAddress();
  return (
    <section className="steps-list" aria-labelledby="steps-heading">
      <h2 className="pane-heading" id="steps-heading">
        Steps
      </h2>
      <ol role="list" ref={list}>
        {root.children.map((step, index) => (
          <li key={step.key} data-key={step.key} className="steps-item">
            {!isReadOnly && root.children.length > 1 && (
              <DragHandle node={step} onDrag={onDrag} of={`step ${index + 1}`} />
            )}
            <button
              type="button"
              className="steps-link"
              aria-current={step === current ? 'step' : undefined}
              onClick={() => editor.select(step.key, 'node')}
            >
              <span className="steps-number">{index + 1}</span>
              <span className="steps-title">
                <PipedText text={textOf(step, 'title') ? stepName(root, step) : 'Untitled step'} />
              </span>
            </button>
            {!isReadOnly && <NodeMenu parts={[step]} />}
          </li>
        ))}
      </ol>
      <div className="row">
        {!isReadOnly && (
          <Button size="small" variant="quiet" icon="add" onPress={() => addStep(editor)}>
            Add step
          </Button>
        )}
        {root.children.length > 1 && (
          <Button
            size="small"
            variant="quiet"
            icon="steps"
            onPress={() => changeAddress({ panel: 'paths' }, 'replace')}
          >
            Paths
          </Button>
        )}
      </div>
    </section>
  );
}

type PaneProps = {
  readonly side: 'start' | 'end';
  readonly title: string;
  /** Whether the pane is open in a narrow window. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** A pane beside the canvas. In a narrow window, a sheet over it. */
function Pane({ side, title, isOpen, onClose, children }: PaneProps): ReactElement {
  if (useNarrow())
    return (
      <Dialog title={title} isOpen={isOpen} onClose={onClose} size="medium" keepsText>
        {children}
      </Dialog>
    );
  return (
    <aside className={`pane pane-${side}`} aria-label={title}>
      {children}
    </aside>
  );
}

/**
 * Three panes: the palette, the form, and the properties of the selection. On a phone, the palette and the
 * properties open over the form.
 */
export function DesignView({ problems, api }: { problems: ProblemsByKey; api: BuilderApi }): ReactElement {
  const place = useBuilder();
  const { isReadOnly } = place;
  const host = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stepsList = useRef<HTMLOListElement>(null);
  const { drag, start } = useDrag(place, host, scroller, stepsList);
  const deletion = useDeletion(api);
  const quiet = useQuietProblems(place.editor, problems);
  const [foot, setFoot] = useState<HTMLElement | null>(null);
  const [insertRequest, setInsertRequest] = useState<InsertRequest | undefined>();
  const isNarrow = useNarrow();
  const { sheet, setSheet, closePanel } = useSheet(place.editor, host, isNarrow);
  const { present } = useEditorState(place.editor).history;
  // Stable across edits: it is a prop of up to 200 gaps, which would re-render if it changed.
  const insert = useCallback(
    (anchor: Element | null, spot?: Spot): void => {
      if (!isReadOnly) setInsertRequest({ anchor: { current: anchor }, spot });
    },
    [isReadOnly],
  );
  const openMenu = (): void =>
    insert(findNodeElement(host.current, place.editor.read().history.present.selection));
  return (
    <NodeCommandContext value={{ openMenu, remove: deletion.ask }}>
      <PartKeys />
      <div className="panes">
        <Pane
          side="start"
          title={isNarrow ? 'Steps' : 'Elements and steps'}
          isOpen={sheet === 'steps'}
          onClose={() => setSheet(undefined)}
        >
          <StepsList list={stepsList} onDrag={start} />
          {!isReadOnly && !isNarrow && <Palette onDrag={start} />}
        </Pane>
        <Canvas
          host={host}
          scroller={scroller}
          problems={quiet.shown}
          foot={foot}
          drag={drag}
          onDrag={start}
          onInsert={insert}
        />
        <div className="canvas-foot">
          <div ref={setFoot} />
          {isNarrow && (
            <>
              <IconButton icon="steps" label="Steps" onPress={() => setSheet('steps')} />
              <IconButton icon="settings" label="Properties" onPress={() => setSheet('properties')} />
              {!isReadOnly && (
                <IconButton icon="add" label="Add element" variant="primary" onPress={openMenu} />
              )}
            </>
          )}
        </div>
        <Pane
          side="end"
          title={isNarrow ? titleOfPanel(selectedNodes(present)) : 'Properties'}
          isOpen={sheet === 'properties'}
          onClose={closePanel}
        >
          <div inert={isReadOnly}>
            <PropertyPanel problems={quiet.shown} onLeave={quiet.onLeave} />
          </div>
        </Pane>
        {sheet === 'paths' && (
          <Suspense>
            <PathsDialog onClose={() => setSheet(undefined)} />
          </Suspense>
        )}
        {deletion.dialog}
        <InsertMenu request={insertRequest} onClose={() => setInsertRequest(undefined)} />
      </div>
    </NodeCommandContext>
  );
}

/**
 * Returns what covers the canvas: a pane on a phone, or the map of the paths. A focus request for another part
 * closes it first.
 */
function useSheet(
  editor: Editor,
  host: RefObject<HTMLElement | null>,
  isNarrow: boolean,
): {
  readonly sheet: BuilderPanel | undefined;
  readonly setSheet: (sheet: BuilderPanel | undefined) => void;
  readonly closePanel: () => void;
} {
  const { focus } = useEditorState(editor);
  const [{ panel: sheet }, change] = useAddress();
  const setSheet = useCallback((panel: BuilderPanel | undefined) => change({ panel }, 'replace'), [change]);
  const isOpen = useEffectEvent(() => sheet !== undefined);
  useEffect(() => {
    if (focus?.part === 'panel') {
      if (isNarrow) setSheet('properties');
    } else if (focus && isOpen()) {
      setSheet(undefined);
      const { key, part } = focus;
      afterFocusReturned(() =>
        part === 'label' ? editor.write({ key }) : findNodeElement(host.current, key)?.focus(),
      );
    }
  }, [editor, host, focus, isNarrow, setSheet]);
  const closePanel = (): void => {
    setSheet(undefined);
    // Clears the focus request, so that the pane stays closed after a visit to another view.
    if (focus?.part === 'panel') afterFocusReturned(() => editor.select(focus.key, 'node'));
  };
  return { sheet, setSheet, closePanel };
}

function PartKeys(): null {
  useNodeShortcuts();
  useNodeFinderActions();
  return null;
}

type PendingDeletion = {
  readonly parts: readonly EditNode[];
  readonly answers: number;
  readonly scanned: number;
};

/**
 * Returns a function that deletes nodes. Unanswered ones are deleted immediately. For others, a dialog shows
 * the number of answers first (docs/rules.md B3).
 */
function useDeletion(api: BuilderApi): { ask: (parts: readonly EditNode[]) => void; dialog: ReactElement } {
  const { editor, lockedIds } = useBuilder();
  const [pending, setPending] = useState<PendingDeletion | undefined>();
  const askOrRemove = async (parts: readonly EditNode[], ids: readonly string[]): Promise<void> => {
    const { counts, scanned } = await api.countAnswers();
    const answers = Math.max(...ids.map((id) => counts[id] ?? 0));
    if (answers === 0) deleteAndSelectNext(editor, parts);
    else setPending({ parts, answers, scanned });
  };
  const ask = (parts: readonly EditNode[]): void => {
    const { root } = editor.read().history.present;
    const ids = parts.flatMap((node) => answeredIds(root, node)).filter((id) => lockedIds.has(id));
    if (ids.length === 0) deleteAndSelectNext(editor, parts);
    else askOrRemove(parts, ids).catch(toastProblem);
  };
  const dialog = (
    <ConfirmDialog
      title={`Delete ${pending ? describeNodes(editor.read().history.present.root, pending.parts) : ''}?`}
      isOpen={pending !== undefined}
      onClose={() => setPending(undefined)}
      confirmLabel="Delete"
      onConfirm={() => {
        if (pending) deleteAndSelectNext(editor, pending.parts);
        setPending(undefined);
      }}
    >
      {pending && describeLostAnswers(pending)} These answers are kept. New submissions will not include it.
    </ConfirmDialog>
  );
  return { ask, dialog };
}

/**
 * Returns the ids under which answers to a node may be stored. Rows are stored under the id of their
 * repeatable group.
 */
function answeredIds(root: EditNode, node: EditNode): string[] {
  const around = pathToNode(root, node.key).filter(({ attrs }) => attrs['repeatable'] === true);
  return [...around, ...walkNodes(node)].map((inner) => textOf(inner, 'id')).filter(Boolean);
}

function describeLostAnswers({ answers, scanned }: PendingDeletion): string {
  return scanned < 10_000
    ? `${formatCount(answers, 'submission answers', 'submissions answer')} it.`
    : `Of the newest ${scanned.toLocaleString()} submissions, ${formatCount(answers, 'answers', 'answer')} it.`;
}
