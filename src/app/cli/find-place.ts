import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import {
  findPlaceOfDelivery,
  findPlaceOfForm,
  findPlaceOfKey,
  findPlaceOfMail,
  findPlaceOfReplay,
  findPlaceOfSubmission,
  findPlaceOfWebhook,
} from './queries.ts';

/** What a path or a command names by an id alone, by the first word of such paths, and where its place is found. */
const finders = {
  forms: ['form', findPlaceOfForm],
  submissions: ['submission', findPlaceOfSubmission],
  webhooks: ['webhook', findPlaceOfWebhook],
  deliveries: ['delivery', findPlaceOfDelivery],
  replays: ['replay', findPlaceOfReplay],
  keys: ['API key', findPlaceOfKey],
  mails: ['mail', findPlaceOfMail],
} as const;

type Kind = keyof typeof finders;

/**
 * The workspace in which a thing lies.
 * @throws ApiError not_found when there is nothing of this kind with this id in any workspace.
 */
export async function findWorkspace(database: Database, kind: Kind, id: string): Promise<string> {
  const [name, find] = finders[kind];
  const found = only(await find(database, { id }));
  if (!found) throw new ApiError('not_found', `There is no ${name} ${id}.`);
  return found.workspace_id;
}

/**
 * The workspace in which the thing lies that a path names by its `:id`; undefined when it names none, or one of which
 * nothing is known here.
 * @throws as findWorkspace.
 */
export async function findWorkspaceOf(
  database: Database,
  path: string,
  id: string | undefined,
): Promise<string | undefined> {
  const kind = path.split('/')[1]!;
  return id !== undefined && isKind(kind) ? findWorkspace(database, kind, id) : undefined;
}

const isKind = (name: string): name is Kind => Object.hasOwn(finders, name);
