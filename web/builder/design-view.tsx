import { type ReactElement, useRef, useState } from 'react';
import { ConfirmDialog } from '../design/dialog.tsx';
import { toastProblem } from '../design/toast.tsx';
import { Canvas } from './canvas/canvas.tsx';
import { elementOf } from './canvas/canvas-geometry.ts';
import { useDrag } from './canvas/drag/use-drag.ts';
import { remove } from './editor/commands.ts';
import { useBuilder } from './editor/use-editor.ts';
import { sayNodes } from './model/compare.ts';
import { type EditNode, type NodeKey, textOf, trailTo, walkNodes } from './model/edit-node.ts';
import type { Spot } from './model/places.ts';
import { InsertMenu, type InsertWish } from './palette/insert-menu.tsx';
import { Palette } from './palette/palette.tsx';
import { PropertyPanel } from './panel/property-panel.tsx';
import type { BuilderApi } from './saving/builder-api.ts';
import { ReachContext } from './shortcuts/on-parts.ts';
import { useOfferedParts } from './shortcuts/use-offered-parts.ts';
import { usePartKeys } from './shortcuts/use-part-keys.ts';
import { StepsList } from './steps-list.tsx';

/** Three panes: what can be added, the form, and what is selected in it. */
export function DesignView({
  problems,
  api,
}: {
  problems: ReadonlyMap<NodeKey, readonly string[]>;
  api: BuilderApi;
}): ReactElement {
  const place = useBuilder();
  const { isReadOnly } = place;
  const host = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stepsList = useRef<HTMLOListElement>(null);
  const { drag, start } = useDrag(place, host, scroller, stepsList);
  const deletion = useDeletion(api);
  const [wish, setWish] = useState<InsertWish | undefined>();
  const insert = (anchor: Element | null, spot?: Spot): void => {
    if (!isReadOnly) setWish({ anchor: { current: anchor }, spot });
  };
  const openMenu = (): void => insert(elementOf(host.current, place.editor.read().history.present.selection));
  return (
    <ReachContext value={{ openMenu, remove: deletion.ask }}>
      <PartKeys />
      <div className="panes">
        <aside className="pane pane-start" aria-label="Elements and steps">
          <StepsList list={stepsList} onDrag={start} />
          {!isReadOnly && <Palette onDrag={start} />}
        </aside>
        <Canvas
          host={host}
          scroller={scroller}
          problems={problems}
          drag={drag}
          onDrag={start}
          onInsert={insert}
        />
        <aside className="pane pane-end" aria-label="Properties">
          <div inert={isReadOnly}>
            <PropertyPanel problems={problems} />
          </div>
        </aside>
        {deletion.dialog}
        <InsertMenu wish={wish} onClose={() => setWish(undefined)} />
      </div>
    </ReachContext>
  );
}

function PartKeys(): null {
  usePartKeys();
  useOfferedParts();
  return null;
}

type Asked = {
  readonly parts: readonly EditNode[];
  readonly answers: number;
  readonly scanned: number;
};

/** Deletes at once what nobody has answered, and asks about the rest, with the number of answers (docs/rules.md B3). */
function useDeletion(api: BuilderApi): { ask: (parts: readonly EditNode[]) => void; dialog: ReactElement } {
  const { editor, lockedIds } = useBuilder();
  const [asked, setAsked] = useState<Asked | undefined>();
  const askOrRemove = async (parts: readonly EditNode[], ids: readonly string[]): Promise<void> => {
    const { counts, scanned } = await api.countAnswers();
    const answers = Math.max(...ids.map((id) => counts[id] ?? 0));
    if (answers === 0) remove(editor, parts);
    else setAsked({ parts, answers, scanned });
  };
  const ask = (parts: readonly EditNode[]): void => {
    const { root } = editor.read().history.present;
    const ids = parts.flatMap((node) => answeredIds(root, node)).filter((id) => lockedIds.has(id));
    if (ids.length === 0) remove(editor, parts);
    else askOrRemove(parts, ids).catch(toastProblem);
  };
  const dialog = (
    <ConfirmDialog
      title={`Delete ${asked ? sayNodes(asked.parts) : ''}?`}
      isOpen={asked !== undefined}
      onClose={() => setAsked(undefined)}
      confirmLabel="Delete"
      onConfirm={() => {
        if (asked) remove(editor, asked.parts);
        setAsked(undefined);
      }}
    >
      {asked && sayAnswers(asked)} They stay stored with their submissions; new submissions will not have this
      answer.
    </ConfirmDialog>
  );
  return { ask, dialog };
}

/** The ids under which answers to a node may be stored; rows are answered under the id of their group. */
function answeredIds(root: EditNode, node: EditNode): string[] {
  const around = trailTo(root, node.key).filter(({ attrs }) => attrs['repeatable'] === true);
  return [...around, ...walkNodes(node)].map((inner) => textOf(inner, 'id')).filter(Boolean);
}

function sayAnswers({ answers, scanned }: Asked): string {
  const count =
    answers === 1 ? '1 submission answers it' : `${answers.toLocaleString()} submissions answer it`;
  return scanned < 10_000
    ? `${count}.`
    : `Of the newest ${scanned.toLocaleString()} submissions, ${answers.toLocaleString()} answer it.`;
}
