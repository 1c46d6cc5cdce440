import { type Static, Type } from 'typebox';
import { normalizeText, trimText } from '#ast/basics/text.ts';
import { newId, now } from '#kit/clock.ts';
import { hashResponse } from '#kit/conditional.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { operation } from '#kit/operation.ts';
import { nameSchema } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { jsonb, type Queryable, requireRow, statement } from '#kit/statement.ts';
import { strictObject, timestampSchema } from '#kit/validation.ts';
import { longestStageName, mostStages, stageColors } from '#rules/columns.ts';
import { nameProblems, throwProblems } from './accounts/users.ts';
import { requireWorkspaceAccess } from './authenticate.ts';

const color = Type.Enum([...stageColors]);
export const stageIdSchema = Type.String({ pattern: '^[a-z0-9_-]{1,64}$' });

/** A stage that submissions go through. */
const Stage = nameSchema('Stage', strictObject({ id: Type.String(), name: Type.String(), color }));
type Stage = Static<typeof Stage>;

const Stages = Type.Object({
  data: Type.Array(Stage, { description: 'In order. Submissions begin in the first stage.' }),
  updated_at: timestampSchema,
});

const findStages = statement('workspace_id', ['updated_at', { stages: jsonb<Stage[]>() }])`
  select stages, stages_updated_at as updated_at from workspaces where id = $workspace_id`;

const updateStages = statement('workspace_id now stages:jsonText unchanged?', 'id')`
  update workspaces set stages = $stages, stages_updated_at = greatest($now, stages_updated_at + interval '1 ms')
   where id = $workspace_id and ($unchanged is null or stages_updated_at = any ($unchanged)) returning id`;

/** The ids of the stages of the workspace, in order. It does not depend on a row, so it is read once. */
export const stageIdsSql = `(select array(select stage ->> 'id' from jsonb_array_elements(w.stages) with ordinality as listed (stage, place) order by place)
  from workspaces w where w.id = $workspace_id)::text[]`;

/** The stage in which submissions begin. */
export const firstStageIdSql = `(${stageIdsSql})[1]`;

/**
 * The stage of a submission. Without one, or if it was deleted, that is the first: no submission is rewritten
 * if the stages change.
 * @param row the alias of the table of submissions.
 */
export const stageIdSql = (row: string): string =>
  `case when ${row}.stage_id = any (${stageIdsSql}) then ${row}.stage_id else ${firstStageIdSql} end`;

/** Returns the stages of a workspace, in order. */
export async function readStages(database: Queryable, workspaceId: string): Promise<Stage[]> {
  return requireRow(await findStages(database, { workspace_id: workspaceId })).stages;
}

/** Returns what is wrong with the names and ids of stages. */
function stageProblems(stages: readonly { id?: string; name: string }[]): ErrorItem[] {
  const isRepeated = (values: readonly (string | undefined)[], index: number): boolean =>
    values[index] !== undefined && values.indexOf(values[index]) < index;
  const ids = stages.map(({ id }) => id);
  const names = stages.map(({ name }) => name.toLowerCase());
  const repeated = (
    part: 'id' | 'name',
    values: readonly (string | undefined)[],
    index: number,
  ): ErrorItem[] =>
    isRepeated(values, index)
      ? [{ field: `data.${index}.${part}`, message: `Another stage has this ${part}.`, code: 'duplicate' }]
      : [];
  return stages.flatMap(({ name }, index) => [
    ...nameProblems(`data.${index}.name`, name),
    ...repeated('name', names, index),
    ...repeated('id', ids, index),
  ]);
}

/** Operations that read and change the stages of a workspace. */
export function stageEndpoints({ database }: { database: Database }) {
  const read = async (workspaceId: string) => {
    const { stages, updated_at } = requireRow(await findStages(database, { workspace_id: workspaceId }));
    const body = { data: stages, updated_at: updated_at.toISOString() };
    return { body, tag: formatEtag(updated_at, hashResponse(body)) };
  };
  return {
    listStages: operation({
      summary: 'List stages',
      description: 'Returns the stages that submissions of the workspace go through, in order.',
      permission: 'submissions:read',
      reply: { status: 200, description: 'The stages.', schema: Stages },
      run: ({ workspaceId }) => read(workspaceId),
    }),

    changeStages: operation({
      summary: 'Change stages',
      description:
        'Replaces the stages of the workspace. A stage keeps its submissions if its `id` is sent. Submissions in a deleted stage go to the first stage. If another stage becomes the first, submissions that were never moved are in that stage. A stage without an `id` gets one.',
      permission: 'workspace:write',
      audit: { changes: 'listStages' },
      body: strictObject({
        data: Type.Array(
          strictObject({
            id: Type.Optional(stageIdSchema),
            name: Type.String({ maxLength: longestStageName }),
            color,
          }),
          { minItems: 1, maxItems: mostStages },
        ),
        updated_at: Type.Optional(
          Type.String({ description: 'Ignored, so that an object returned by the API can be sent back.' }),
        ),
      }),
      example: {
        body: {
          data: [
            { id: 'new', name: 'New', color: 'gray' },
            { name: 'Waiting for a reply', color: 'yellow' },
            { id: 'done', name: 'Done', color: 'green' },
          ],
        },
      },
      isConditional: true,
      reply: { status: 200, description: 'The changed stages.', schema: Stages },
      async run({ workspaceId, formIds, body, unchanged }) {
        requireWorkspaceAccess(formIds);
        const given = body.data.map((stage) => ({ ...stage, name: trimText(normalizeText(stage.name)) }));
        throwProblems(stageProblems(given));
        const stages = given.map(({ id = newId(), name, color }): Stage => ({ id, name, color }));
        const sent = { workspace_id: workspaceId, now: now(), stages: JSON.stringify(stages), unchanged };
        const changed = await updateStages(database, sent);
        if (changed.length === 0) throw new ApiError(unchanged ? 'precondition_failed' : 'not_found');
        return read(workspaceId);
      },
    }),
  };
}
