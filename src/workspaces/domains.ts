import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { findInAllCells } from '#cells/across-cells.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { createHostCheck, normalizeDomain, resolveTexts } from '#kit/outbound/hosts.ts';
import { namedObject } from '#kit/pagination.ts';
import { columns, type RowOf, requireRow, statement } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import type { Vault } from '#kit/vault.ts';
import { requireWorkspaceAccess } from './authenticate.ts';

/** SQL for the domain that the links of a workspace use: the first that was verified; null if there is none. */
export const linkDomainSql = (workspaceId: string): string =>
  `(select own.domain from domain_lookup own where own.workspace_id = ${workspaceId} order by own.verified_at, own.domain_id limit 1)`;

const selection = `select d.id, d.domain, d.created_at, l.verified_at,
         l.verified_at is not null and d.domain = ${linkDomainSql('$workspace_id')} as is_used
  from domains d left join domain_lookup l on l.workspace_id = d.workspace_id and l.domain_id = d.id
  where d.workspace_id = $workspace_id`;

const domainColumns = columns('id domain:text created_at verified_at:timestamp? is_used:boolean');

const listDomains = statement('workspace_id', domainColumns)`
  ${selection} order by d.id desc`;

const findDomain = statement('workspace_id id', domainColumns)`${selection} and d.id = $id`;

/** Adds a domain. Returns no row if the workspace already has it, has the maximum number, or does not exist. */
const insertDomain = statement('workspace_id id domain:text now most', 'id')`
  insert into domains (workspace_id, id, domain, created_at)
  select w.id, $id, $domain, $now from workspaces w where w.id = $workspace_id
    and $most > (select count(*) from domains where workspace_id = $workspace_id)
  on conflict (workspace_id, domain) do nothing returning id`;

const deleteDomain = statement('workspace_id id', 'id')`
  delete from domains where workspace_id = $workspace_id and id = $id returning id`;

/** Verifies a domain. Returns no row if it was verified before. */
const verifyDomain = statement('workspace_id id now', 'domain:text')`
  insert into domain_lookup (domain, workspace_id, domain_id, verified_at)
  select domain, workspace_id, id, $now from domains where workspace_id = $workspace_id and id = $id
  on conflict (domain) do nothing returning domain`;

const findWorkspace = statement('domain:text', 'workspace_id is_closed:boolean')`
  /* lookup: across workspaces */
  select l.workspace_id, w.ends_at is not null as is_closed
  from domain_lookup l join workspaces w on w.id = l.workspace_id where l.domain = $domain`;

/** Returns the workspace that verified a domain, in any cell. */
const findOwner = async (database: Database, domain: string) =>
  (await findInAllCells(database, (db) => findWorkspace(db, { domain }))).at(0);

/** Returns the ID of the workspace that has verified a domain and is not closed. */
export async function findWorkspaceOfDomain(database: Database, domain: string): Promise<string | undefined> {
  const owner = await findOwner(database, domain);
  return owner?.is_closed === false ? owner.workspace_id : undefined;
}

/** The workspace of each request that came to a workspace's domain. */
const workspaces = new WeakMap<IncomingMessage, string>();

/** Records that a request came to the domain of a workspace. It can open only the forms of this workspace. */
export const setDomainWorkspace = (request: IncomingMessage, workspaceId: string): void =>
  void workspaces.set(request, workspaceId);

/** Returns the workspace to whose domain a request came; undefined for a host of the instance. */
export const domainWorkspaceOf = (request: IncomingMessage): string | undefined => workspaces.get(request);

const mostDomains = 20;

const Domain = namedObject('Domain', {
  id: uuidSchema,
  domain: Type.String({ description: 'In lower case. International names are in ASCII (`xn--`).' }),
  status: Type.Enum(['pending', 'verified']),
  record_name: Type.String({ description: 'The name of the TXT record that verifies the domain.' }),
  record_value: Type.String({ description: 'The value of the TXT record.' }),
  is_used: Type.Boolean({ description: 'Whether public links use this domain: the first verified one.' }),
  created_at: timestampSchema,
  verified_at: orNull(timestampSchema),
});

type DomainServices = {
  database: Database;
  vault: Vault;
  config: Pick<Config, 'publicUrl' | 'allowedHosts'>;
};

/**
 * Returns the normalized domain.
 * @throws ApiError validation_error if it is not a domain, or is a host of the instance.
 */
function readDomain(config: DomainServices['config'], given: string): string {
  const domain = normalizeDomain(given);
  const refuse = (message: string, code: 'invalid_format' | 'not_allowed'): ApiError =>
    new ApiError('validation_error', undefined, { errors: [{ field: 'domain', message, code }] });
  if (domain === undefined)
    throw refuse('Enter a domain such as forms.example.com, without https:// and path.', 'invalid_format');
  if (createHostCheck(config)(domain))
    throw refuse('This domain belongs to the service itself. Choose another one.', 'not_allowed');
  return domain;
}

/** Adds a normalized domain to a workspace and returns its ID. @throws ApiError not_found, conflict. */
async function addDomain(database: Database, workspaceId: string, domain: string) {
  const row = { workspace_id: workspaceId, id: newId(), domain, now: now(), most: mostDomains };
  if ((await insertDomain(database, row)).length > 0) return row.id;
  const rows = await listDomains(database, { workspace_id: workspaceId });
  if (rows.length === 0) throw new ApiError('not_found', 'This workspace does not exist.');
  if (!rows.some((each) => each.domain === domain))
    throw new ApiError('conflict', `A workspace can have at most ${mostDomains} domains. Delete one first.`);
  const message = 'This workspace already has this domain.';
  throw new ApiError('conflict', message, { errors: [{ field: 'domain', message, code: 'duplicate' }] });
}

/** Marks a domain as verified. @throws ApiError not_found; conflict if another workspace has verified it. */
async function recordVerification(database: Database, key: { workspace_id: string; id: string }) {
  const { domain } = requireRow(await findDomain(database, key));
  const owner = await findOwner(database, domain);
  if (!owner && (await verifyDomain(database, { ...key, now: now() })).length > 0) return;
  if ((owner ?? (await findOwner(database, domain)))?.workspace_id !== key.workspace_id)
    throw new ApiError('conflict', 'Another workspace of this service has verified this domain.');
}

/** Adds a domain to a workspace if it is missing, and marks it as verified without a TXT record. */
export async function addVerifiedDomain(services: DomainServices, workspaceId: string, given: string) {
  const { database, config } = services;
  const domain = readDomain(config, given);
  const rows = await listDomains(database, { workspace_id: workspaceId });
  const id =
    rows.find((each) => each.domain === domain)?.id ?? (await addDomain(database, workspaceId, domain));
  await recordVerification(database, { workspace_id: workspaceId, id });
  return { id, domain, status: 'verified' };
}

const recordNameOf = (domain: string): string => `_formloom.${domain}`;

/** Operations on the domains at which the public pages of a workspace are served. */
export function domainEndpoints(services: DomainServices) {
  const { database, vault } = services;
  /** Returns the accepted values of the TXT record. After a change of the instance key there are several. */
  const recordValues = (workspaceId: string, domain: string): string[] =>
    vault
      .signatures('domains', [workspaceId, domain])
      .map((signature) => `formloom-verification=${signature}`);
  const present = (workspaceId: string, row: RowOf<typeof domainColumns>) => ({
    ...asWireValue(row),
    status: row.verified_at === null ? ('pending' as const) : ('verified' as const),
    record_name: recordNameOf(row.domain),
    record_value: recordValues(workspaceId, row.domain)[0]!,
  });
  const show = async (key: { workspace_id: string; id: string }) => ({
    body: present(key.workspace_id, requireRow(await findDomain(database, key))),
  });
  const keyOf = ({ workspaceId, formIds }: RequestScope, id: string) => {
    requireWorkspaceAccess(formIds);
    return { workspace_id: workspaceId, id };
  };

  return {
    listDomains: operation({
      summary: 'List domains',
      description:
        'Returns the domains of the workspace, newest first, each with the TXT record that verifies it.',
      permission: 'workspace:read',
      reply: { status: 200, description: 'The domains.', schema: Type.Object({ data: Type.Array(Domain) }) },
      async run({ workspaceId, formIds }) {
        requireWorkspaceAccess(formIds);
        const rows = await listDomains(database, { workspace_id: workspaceId });
        return { body: { data: rows.map((row) => present(workspaceId, row)) } };
      },
    }),

    createDomain: operation({
      summary: 'Create domain',
      description: `Adds a domain at which the forms of the workspace are served. Create its TXT record, then verify it. A workspace can have ${mostDomains} domains; 409 if it has that many, or this one.`,
      permission: 'workspace:write',
      audit: { fields: ['domain'] },
      body: strictObject({ domain: Type.String({ minLength: 1, maxLength: 500 }) }),
      example: { body: { domain: 'forms.example.com' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The domain, with the TXT record to create.', schema: Domain },
      async run({ workspaceId, formIds, body }) {
        requireWorkspaceAccess(formIds);
        return show({
          workspace_id: workspaceId,
          id: await addDomain(database, workspaceId, readDomain(services.config, body.domain)),
        });
      },
    }),

    verifyDomain: operation({
      summary: 'Verify domain',
      description:
        'Looks up the TXT record of the domain. If it exists, the forms of the workspace are served at the domain, and links use it. 409 if the record is missing, or if another workspace has verified the domain.',
      permission: 'workspace:write',
      audit: 'entry',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 200, description: 'The verified domain.', schema: Domain },
      async run({ params, ...scope }) {
        const key = keyOf(scope, params.id);
        const { domain, verified_at } = requireRow(await findDomain(database, key));
        if (verified_at === null) {
          await requireRecord(recordNameOf(domain), recordValues(scope.workspaceId, domain));
          await recordVerification(database, key);
        }
        return show(key);
      },
    }),

    deleteDomain: operation({
      summary: 'Delete domain',
      description:
        'Removes a domain. Links to forms at this domain stop working immediately. New links use another verified domain, or the address of the service.',
      permission: 'workspace:write',
      audit: 'entry',
      params: idParameter,
      isDestructive: true,
      reply: { status: 204, description: 'The domain is removed.' },
      async run({ params, ...scope }) {
        requireRow(await deleteDomain(database, keyOf(scope, params.id)));
      },
    }),
  };
}

/** @throws ApiError conflict if the TXT record is missing, or DNS does not answer. */
async function requireRecord(name: string, values: readonly string[]): Promise<void> {
  const found = await resolveTexts(name);
  if (found === undefined) throw new ApiError('conflict', `DNS did not answer for ${name}. Try again later.`);
  if (!values.some((value) => found.includes(value)))
    throw new ApiError(
      'conflict',
      found.length === 0
        ? `The TXT record ${name} was not found. New records can take up to an hour to appear.`
        : `The TXT record ${name} does not have the value ${values[0]}.`,
    );
}
