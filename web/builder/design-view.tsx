import { type ReactElement, useRef, useState } from 'react';
import { ConfirmDialog } from '../design/dialog.tsx';
import { toastProblem } from '../design/toast.tsx';
import { Canvas } from './canvas/canvas.tsx';
import { useDrag } from './canvas/drag/use-drag.ts';
import { remove } from './editor/commands.ts';
import { useBuilder } from './editor/use-editor.ts';
import { sayNode } from './model/compare.ts';
import { type EditNode, findNode, type NodeKey, textOf, trailTo, walkNodes } from './model/edit-node.ts';
import { Palette } from './palette/palette.tsx';
import { PropertyPanel } from './panel/property-panel.tsx';
import type { BuilderApi } from './saving/builder-api.ts';
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
  return (
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
        onDelete={deletion.ask}
      />
      <aside className="pane pane-end" aria-label="Properties">
        <div inert={isReadOnly}>
          <PropertyPanel problems={problems} onDelete={deletion.ask} />
        </div>
      </aside>
      {deletion.dialog}
    </div>
  );
}

type Asked = {
  readonly key: NodeKey;
  readonly name: string;
  readonly answers: number;
  readonly scanned: number;
};

/** Deletes at once what nobody has answered, and asks about the rest, with the number of answers (docs/rules.md B3). */
function useDeletion(api: BuilderApi): { ask: (key: NodeKey) => void; dialog: ReactElement } {
  const { editor, lockedIds } = useBuilder();
  const [asked, setAsked] = useState<Asked | undefined>();
  const askOrRemove = async (node: EditNode, ids: readonly string[]): Promise<void> => {
    const { counts, scanned } = await api.countAnswers();
    const answers = Math.max(...ids.map((id) => counts[id] ?? 0));
    if (answers === 0) remove(editor, node.key);
    else setAsked({ key: node.key, name: sayNode(node), answers, scanned });
  };
  const ask = (key: NodeKey): void => {
    const { root } = editor.read().history.present;
    const node = findNode(root, key);
    if (!node || node === root) return;
    const ids = answeredIds(root, node).filter((id) => lockedIds.has(id));
    if (ids.length === 0) remove(editor, key);
    else askOrRemove(node, ids).catch(toastProblem);
  };
  const dialog = (
    <ConfirmDialog
      title={`Delete ${asked?.name ?? ''}?`}
      isOpen={asked !== undefined}
      onClose={() => setAsked(undefined)}
      confirmLabel="Delete"
      onConfirm={() => {
        if (asked) remove(editor, asked.key);
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
