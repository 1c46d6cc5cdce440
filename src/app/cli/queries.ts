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

export const findPlaceOfKey = place('api_keys');
export const findPlaceOfForm = place('form_lookup', 'form_id');
export const findPlaceOfSubmission = place('submissions');
export const findPlaceOfWebhook = place('webhooks');
export const findPlaceOfDelivery = place('deliveries');
export const findPlaceOfReplay = place('replays');
export const findPlaceOfMail = place('mails');
export const findPlaceOfMemberInvitation = place('member_invitations');
/** A person may be a member of several workspaces. */
export const findPlacesOfMember = place('members', 'user_id', text);

/** Newest first. */
export const selectAllKeys = statement(
  'cli.select_all_keys',
  '',
  [
    'id workspace_id name prefix permissions:texts? form_ids? created_at expires_at?',
    'revoked_at? last_used_at?',
  ],
  `/* operator: across workspaces */
   select id, workspace_id, name, prefix, permissions, form_ids, created_at, expires_at, revoked_at, last_used_at
     from api_keys
    order by id desc`,
);

/** Webhooks with something that the instance's key opens, oldest first. */
export const selectSealed = statement(
  'cli.select_sealed',
  '',
  'id workspace_id form_id url secret? headers?',
  `/* operator: across workspaces */
   select id, workspace_id, form_id, url, secret, headers
     from webhooks
    where secret is not null or headers is not null
    order by id`,
);

/**
 * What another key than the one of now has sealed in a column, from `after` on, in the order in which rows lie. `place` is
 * a row as long as nobody writes to it; it is written where the column is still what was read.
 */
const sealedIn = (table: string, column: string, isOfInstance = false) => ({
  /** Whether the instance has the table, and no other cell. */
  isOfInstance,
  select: statement(
    `cli.select_sealed_${table}_${column}`,
    'key_id:bytes after:text limit',
    'place sealed:bytes',
    `/* operator: across workspaces */
     select ctid::text as place, ${column} as sealed from ${table}
      where ${column} is not null and substring(${column} for 4) <> $key_id and ctid > $after::tid
      order by ctid limit $limit`,
  ),
  update: statement(
    `cli.update_sealed_${table}_${column}`,
    'places:texts former:byteStrings sealed:byteStrings',
    'place',
    `/* operator: across workspaces */
     update ${table} set ${column} = given.sealed
       from unnest($places, $former, $sealed) as given (place, former, sealed)
      where ${table}.ctid = given.place::tid and ${table}.${column} = given.former
      returning given.place`,
  ),
});

/** Every column in which something is sealed and stays, by what it is sealed for. */
export const sealedColumns = {
  'webhook secrets': [sealedIn('webhooks', 'secret'), sealedIn('webhooks', 'previous_secret')],
  'webhook headers': [sealedIn('webhooks', 'headers')],
  'second factors': [sealedIn('totp_secrets', 'secret', true)],
  mails: [sealedIn('mails', 'content')],
  answers: [sealedIn('repeatable_requests', 'answer')],
  erasures: [sealedIn('erasures', 'asked')],
} as const;
