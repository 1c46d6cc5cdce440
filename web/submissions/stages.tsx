import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ReactElement, useMemo } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { assignmentColumns, type StageColor } from '#rules/stages.ts';
import type { Column } from '#submissions/shapes.ts';
import { operationQuery } from '../api/operations.ts';
import { DotChip } from '../design/chip.tsx';
import type { Tone } from '../design/message.tsx';
import { membersQuery } from '../settings/workspace.ts';
import { useSession } from '../shell/session.ts';
import { goneLabels } from './filter/conditions.ts';
import type { FormLocation } from './queries.ts';

type Stage = ReplyOf<'listStages'>['data'][number];
type Named = { id: string; label: string; description?: string };

/** The stages of a workspace, and the members to whom submissions can be assigned. */
export type Team = { stages: readonly Stage[]; members: readonly Named[]; error?: Error };

export const stagesQuery = (workspaceId: string) =>
  queryOptions({ ...operationQuery(workspaceId, 'listStages', {}), staleTime: 60_000 });

const nothing: Team = { stages: [], members: [] };

/** Returns the stages and members, the signed-in person first; empty until they are loaded. */
export function useTeam({ workspace_id }: Pick<FormLocation, 'workspace_id'>): Team {
  const { data: stages, error: unread } = useQuery(stagesQuery(workspace_id));
  const { data: members, error: missing } = useQuery({ ...membersQuery(workspace_id), staleTime: 60_000 });
  const error = unread ?? missing;
  const { user } = useSession();
  return useMemo(() => {
    if (!stages || !members) return error ? { ...nothing, error } : nothing;
    const others = members.filter(({ id }) => id !== user.id);
    const own = members.filter(({ id }) => id === user.id);
    const times = Map.groupBy(members, ({ name }) => name);
    const toNamed = ({ name, email, id }: (typeof members)[number]): Named => ({
      id,
      label: id === user.id ? `${name} (you)` : name,
      // Two members can have the same name.
      ...(times.get(name)!.length > 1 && { description: email }),
    });
    return { stages: stages.data, members: [...own, ...others].map(toNamed) };
  }, [stages, members, error, user.id]);
}

/** Returns the label of a stage or a member by the column and the id. */
export function describeAssignment(id: string, column: string, { stages, members }: Team): string {
  // They are not loaded yet: every workspace has a stage.
  if (stages.length === 0) return '…';
  const known =
    column === assignmentColumns.stage
      ? stages.find((stage) => stage.id === id)?.name
      : members.find((member) => member.id === id)?.label;
  return known ?? goneLabels[column] ?? id;
}

/** The columns that filters offer after the questions. They are filtered like questions with options. */
export const filterColumnsOf = (columns: readonly Column[], { stages, members }: Team): Column[] => {
  const column = (id: string, label: string, named: readonly Named[]): Column => ({
    id,
    label,
    type: 'dropdown',
    options: named.map((one) => one.id),
    option_labels: Object.fromEntries(named.map((one) => [one.id, one.label])),
    rows: [],
    inputs: [],
    is_retired: false,
  });
  const named = stages.map(({ id, name }) => ({ id, label: name }));
  return [
    ...columns,
    column(assignmentColumns.stage, 'Stage', named),
    column(assignmentColumns.assignee, 'Assignee', members),
  ];
};

const tones = {
  gray: 'plain',
  blue: 'info',
  green: 'good',
  yellow: 'warn',
  red: 'bad',
} as const satisfies Record<StageColor, Tone | 'plain'>;

/** A stage with its color; nothing until the stages are loaded. */
export function StageChip({ id, stages }: { id: string; stages: readonly Stage[] }): ReactElement | null {
  const stage = stages.find((one) => one.id === id);
  return stage ? <DotChip tone={tones[stage.color]}>{stage.name}</DotChip> : null;
}

/** The name of the assignee; nothing if there is none, or until the members are loaded. */
export function AssigneeName({ id, team }: { id: string | null; team: Team }): ReactElement | null {
  const member = team.members.find((one) => one.id === id);
  return member ? <>{member.label}</> : null;
}
