import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import {
  findPlaceOfDelivery,
  findPlaceOfForm,
  findPlaceOfInvitation,
  findPlaceOfKey,
  findPlaceOfReplay,
  findPlaceOfWebhook,
} from './queries.ts';

/** What the command line names by an id alone, and where its place is found. */
const finders = {
  'API key': findPlaceOfKey,
  form: findPlaceOfForm,
  webhook: findPlaceOfWebhook,
  delivery: findPlaceOfDelivery,
  invitation: findPlaceOfInvitation,
  replay: findPlaceOfReplay,
} as const;

type Kind = keyof typeof finders;
type Place<K extends Kind> = Awaited<ReturnType<(typeof finders)[K]>>[number];

/**
 * The ids under which a thing lies: its workspace's, and its form's or webhook's where it has one.
 * @throws ApiError not_found when there is nothing of this kind with this id in any workspace.
 */
export async function findPlace<K extends Kind>(database: Database, kind: K, id: string): Promise<Place<K>> {
  // The table pairs each kind with its own row, which a lookup by a type parameter cannot express.
  const found = only((await finders[kind](database, { id })) as Place<K>[]);
  if (!found) throw new ApiError('not_found', `There is no ${kind} ${id}.`);
  return found;
}

/** @throws as findPlace. */
export async function findWorkspace(database: Database, kind: Kind, id: string): Promise<string> {
  const { workspace_id: workspaceId } = await findPlace(database, kind, id);
  return workspaceId;
}
