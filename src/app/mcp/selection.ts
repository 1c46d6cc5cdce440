import { ApiError } from '#kit/errors.ts';
import { permissionNames } from '#rules/permissions.ts';
import type { OperationName } from '../routes.ts';
import { groupOf, languageTool, type Tool, toolName } from './tools.ts';

/** Finds and calls every operation that is not listed as a tool of its own. */
export const findTool = 'find_operations';
export const callTool = 'call_operation';

/**
 * The operations listed by default: building a form, reading submissions, and finding out why a webhook fails. Together
 * with the three special tools their list costs a model less than 6,000 tokens; all 140 cost 45,000.
 */
const defaults: ReadonlySet<string> = new Set(
  (
    [
      'listForms',
      'getForm',
      'validateForm',
      'createForm',
      'getDraft',
      'saveDraft',
      'publishForm',
      'listFormSubmissions',
      'searchSubmissions',
      'getSubmission',
      'getFormSummary',
      'listWebhooks',
      'getWebhookHealth',
      'listDeliveries',
      'getDelivery',
      'retryDelivery',
    ] as const satisfies readonly OperationName[]
  ).map(toolName),
);

const specialTools: ReadonlySet<string> = new Set([languageTool, findTool, callTool]);

/** Groups of tools: the part of a permission before the colon. */
export const toolGroups: readonly string[] = [
  ...new Set(permissionNames.map((permission) => permission.split(':')[0]!)),
];

/** The tools that a client asked for. */
export type Selection = {
  /** Names of tools and groups, or `all`; undefined: the default list. */
  readonly names: ReadonlySet<string> | undefined;
  readonly isReadOnly: boolean;
};

/**
 * Reads `tools=forms,get_delivery` and `read_only=true`.
 * @param known the names of all tools.
 * @throws ApiError bad_request for a name that is neither a tool nor a group.
 */
export function readSelection(
  { tools, readOnly }: { tools: string | undefined; readOnly: string | undefined },
  known: ReadonlyMap<string, Tool>,
): Selection {
  const names = tools?.split(',').map((name) => name.trim());
  const unknown = names?.find(
    (name) => name !== 'all' && !toolGroups.includes(name) && !known.has(name) && !specialTools.has(name),
  );
  if (unknown !== undefined)
    throw new ApiError(
      'bad_request',
      `There is no tool or group "${unknown}". The groups are all, ${toolGroups.join(', ')}.`,
    );
  if (readOnly !== undefined && readOnly !== 'true' && readOnly !== 'false')
    throw new ApiError('bad_request', 'read_only must be true or false.');
  return { names: names && new Set(names), isReadOnly: readOnly === 'true' };
}

/** Whether an operation is listed as a tool of its own. */
export function isListed({ names }: Selection, { route, listed }: Tool): boolean {
  if (!names) return defaults.has(listed.name);
  return names.has('all') || names.has(listed.name) || names.has(groupOf(route));
}

/** Whether a special tool is listed. The form language belongs to the group `forms`. */
export const isSpecialListed = ({ names }: Selection, name: string): boolean =>
  !names || names.has('all') || names.has(name) || (name === languageTool && names.has('forms'));
