import { findInAllCells } from '#cells/across-cells.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { UsageError } from './values.ts';
import { statement, text, uuid } from '#kit/statement.ts';

// An id on the command line comes without its workspace, and the operator may see all of them.

/** Where things of one kind lie, which the id alone leaves open. */
const place = (table: string, named = 'id', type: typeof text = uuid) =>
  statement(
    `cli.find_place_in_${table}`,
    { id: type },
    'workspace_id',
    `/* operator: across workspaces */
     select workspace_id from ${table} where ${named} = $id`,
  );

const findPlaceOfKey = place('api_keys');

const findPlaceOfForm = place('form_lookup', 'form_id');

const findPlaceOfSubmission = place('submissions');

const findPlaceOfWebhook = place('webhooks');

const findPlaceOfDelivery = place('deliveries');

const findPlaceOfReplay = place('replays');

const findPlaceOfMail = place('mails');

const findPlaceOfMemberInvitation = place('member_invitations');

/** A person may be a member of several workspaces. */
const findPlacesOfMember = place('members', 'user_id', text);

/** What a path or a command names by an id alone, by what stands before the id in such paths, and where its place is found. */
const finders = {
  forms: ['form', findPlaceOfForm],
  submissions: ['submission', findPlaceOfSubmission],
  webhooks: ['webhook', findPlaceOfWebhook],
  deliveries: ['delivery', findPlaceOfDelivery],
  replays: ['replay', findPlaceOfReplay],
  keys: ['API key', findPlaceOfKey],
  mails: ['mail', findPlaceOfMail],
  members: ['member', findPlacesOfMember],
  'members/invitations': ['invitation to a workspace', findPlaceOfMemberInvitation],
} as const;

type Kind = keyof typeof finders;

/**
 * The workspace in which a thing lies.
 * @throws ApiError not_found when there is nothing of this kind with this id in any workspace; UsageError for a person in several.
 */
export async function findWorkspace(database: Database, kind: Kind, id: string): Promise<string> {
  const [name, find] = finders[kind];
  const ask = (isPartial: boolean) => findInAllCells(database, (cells) => find(cells, { id }), { isPartial });
  // But for people each is in one cell, and where that answers it waits for no other one.
  const some = kind === 'members' ? [] : await ask(true);
  const [found, ...others] = some.length > 0 ? some : await ask(false);
  if (!found) throw new ApiError('not_found', `There is no ${name} ${id}.`);
  if (others.length > 0)
    throw new UsageError(
      `This person is a member of ${others.length + 1} workspaces: --workspace <id> says which one.`,
    );
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
  const kind = path.slice(1, path.indexOf('/:id'));
  return id !== undefined && isKind(kind) ? findWorkspace(database, kind, id) : undefined;
}

const isKind = (name: string): name is Kind => Object.hasOwn(finders, name);
