import './stages-card.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useRef, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { type StageColor, stageColors } from '#rules/stages.ts';
import { callWorkspaceOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { CardForm } from '../design/fields.tsx';
import { Card } from '../design/page.tsx';
import { Select } from '../design/select.tsx';
import { QueryState } from '../design/states.tsx';
import { useFocusHandover } from '../design/use-focus-handover.ts';
import { mayAdminister } from '../shell/session.ts';
import { StageChip, stagesQuery } from '../submissions/stages.tsx';
import type { WorkspaceDetail } from './workspace.ts';

type Stages = ReplyOf<'listStages'>;
/** A stage that is edited. A new one has no id yet. */
type Draft = { key: number; id?: string; name: string; color: StageColor };

const mostStages = 20;
const colorLabels = {
  gray: 'Gray',
  blue: 'Blue',
  green: 'Green',
  yellow: 'Yellow',
  red: 'Red',
} as const satisfies Record<StageColor, string>;
const colorChoices = stageColors.map((id) => ({ id, label: colorLabels[id] }));

/** The stages that submissions of the workspace go through. Admins can edit them. */
export function StagesCard({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const stages = useQuery(stagesQuery(workspace.id));
  return (
    <Card
      title="Stages"
      lead="Submissions begin in the first stage. Members move them to the others, and can assign each to a member."
    >
      <QueryState query={stages} lines={3} showsError>
        {(seen) =>
          mayAdminister(workspace.role) ? (
            <StagesForm key={seen.updated_at} workspaceId={workspace.id} seen={seen} />
          ) : (
            <div className="row">
              {seen.data.map(({ id }) => (
                <StageChip key={id} id={id} stages={seen.data} />
              ))}
            </div>
          )
        }
      </QueryState>
    </Card>
  );
}

function StagesForm({ workspaceId, seen }: { workspaceId: string; seen: Stages }): ReactElement {
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    seen.data.map((stage, key) => ({ ...stage, key })),
  );
  const list = useRef<HTMLOListElement>(null);
  const handOver = useFocusHandover();
  const save = useAction({
    run: () =>
      callWorkspaceOperation(
        workspaceId,
        'changeStages',
        { body: { data: drafts.map(({ key: _, ...stage }) => stage) } },
        { seen },
      ),
    done: 'The stages were saved.',
  });
  const change = (index: number, part: Partial<Draft>): void =>
    setDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...part } : draft)));
  const move = (index: number, to: number): void =>
    setDrafts(drafts.toSpliced(index, 1).toSpliced(to, 0, drafts[index]!));
  const focusOn = (index: number): void =>
    handOver(() => list.current?.querySelectorAll<HTMLElement>('input.field-input')[index]);
  const isDeleting = seen.data.some(({ id }) => !drafts.some((draft) => draft.id === id));
  return (
    <CardForm label="Save stages" action={save} onSubmit={() => save.mutate()}>
      <ol ref={list} className="stages" aria-label="Stages in order">
        {drafts.map(({ key, name, color }, index) => {
          const title = name.trim() || `stage ${index + 1}`;
          return (
            <li key={key} className="stages-line">
              <TextField
                label={<span className="unseen">Name of stage {index + 1}</span>}
                value={name}
                onChange={(changed) => change(index, { name: changed })}
                error={save.of(`data[${index}].name`)}
                maxLength={50}
                autoComplete="off"
              />
              <Select<StageColor>
                label={`Color of ${title}`}
                isLabelHidden
                choices={colorChoices}
                value={color}
                onChange={(changed) => change(index, { color: changed })}
              />
              <span className="stages-buttons">
                <IconButton
                  icon="chevron-up"
                  size="small"
                  label={`Move ${title} up`}
                  isDisabled={index === 0}
                  onPress={() => move(index, index - 1)}
                />
                <IconButton
                  icon="chevron-down"
                  size="small"
                  label={`Move ${title} down`}
                  isDisabled={index === drafts.length - 1}
                  onPress={() => move(index, index + 1)}
                />
                <IconButton
                  icon="remove"
                  size="small"
                  label={`Delete ${title}`}
                  isDisabled={drafts.length === 1}
                  onPress={() => {
                    focusOn(Math.max(0, index - 1));
                    setDrafts(drafts.toSpliced(index, 1));
                  }}
                />
              </span>
            </li>
          );
        })}
      </ol>
      {isDeleting && (
        <p className="soft small" role="status">
          Submissions in a deleted stage go to the first stage.
        </p>
      )}
      {drafts.length < mostStages && (
        <div className="row">
          <Button
            size="small"
            icon="add"
            onPress={() => {
              focusOn(drafts.length);
              const key = Math.max(...drafts.map((draft) => draft.key)) + 1;
              setDrafts([...drafts, { key, name: '', color: 'gray' }]);
            }}
          >
            Add stage
          </Button>
        </div>
      )}
    </CardForm>
  );
}
