import { readFileSync } from 'node:fs';
import { isRecord } from '#ast/basics/json.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import { ApiError } from '#kit/errors.ts';
import type { ToolResult } from './call-tool.ts';
import {
  callOperationToolName,
  findOperationsToolName,
  formLanguageToolName,
  type ListedTool,
  type Tool,
  type ToolCatalog,
} from './tools.ts';

/** Attributes that most types have. The guide explains them only once. */
const common = new Set([
  'id',
  'label',
  'help_text',
  'error_message',
  'required',
  'col_span',
  'translations',
  'show_when',
  'hide_when',
  'require_when',
  'valid_when',
  'placeholder',
  'autocomplete',
]);

const elementLines = Object.entries(elementDefinitions)
  .map(([type, { attrs }]) => [type, Object.keys(attrs).filter((name) => !common.has(name))] as const)
  .map(([type, own]) => `- ${type}${own.length > 0 ? `: ${own.join(', ')}` : ''}`)
  .join('\n');

/**
 * A two-page guide to the form language for models, returned by `get_form_language`. docs/form-language.md is
 * the reference. test/mcp.test.ts creates a form from each example.
 */
export const formGuide = readFileSync(new URL('./form-guide.md', import.meta.url), 'utf8').replace(
  '{{elements}}',
  () => elementLines,
);

/**
 * The maximum number of matches that are returned. If there are at most `describedMatches`, they include the
 * schemas of their arguments.
 */
const mostMatches = 25;
const describedMatches = 4;

type Arguments = Readonly<Record<string, unknown>>;

/** Returns the tools that are not operations. */
export function specialTools(tools: ToolCatalog, isReadOnly: boolean): ListedTool[] {
  const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return [
    {
      name: formLanguageToolName,
      title: 'Get the form language',
      description:
        'Returns a guide to form trees, with examples. Read it before you write a form. With `part`, returns the JSON Schema of that part.',
      inputSchema: {
        type: 'object',
        properties: {
          part: {
            type: 'string',
            enum: [...tools.language.keys()],
            description: 'An element type, or form, step, element, condition, translations, settings, theme.',
          },
        },
        additionalProperties: false,
      },
      annotations: reading,
    },
    {
      name: findOperationsToolName,
      title: 'Find operations',
      description:
        'Finds operations that are not listed as tools, such as invitations, exports, members, tags and versions. Returns their names and summaries, and their arguments if only a few match.',
      inputSchema: {
        type: 'object',
        properties: {
          query: {
            type: 'string',
            description: 'Words such as "invite people", or the name of an operation.',
          },
        },
        required: ['query'],
        additionalProperties: false,
      },
      annotations: reading,
    },
    {
      name: callOperationToolName,
      title: 'Call an operation',
      description: `Calls an operation that ${findOperationsToolName} found.`,
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name of the operation.' },
          arguments: { type: 'object', description: 'The arguments of the operation.' },
        },
        required: ['name'],
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint: isReadOnly,
        destructiveHint: !isReadOnly,
        idempotentHint: isReadOnly,
        openWorldHint: true,
      },
    },
  ];
}

/**
 * Returns the guide, or the JSON Schema of a part of the language.
 * @throws ApiError bad_request for a part that does not exist.
 */
export function getFormLanguage({ language }: ToolCatalog, { part }: Arguments): ToolResult {
  if (part === undefined) return { content: [{ type: 'text', text: formGuide }] };
  const schema = typeof part === 'string' ? language.get(part) : undefined;
  if (!schema)
    throw new ApiError(
      'bad_request',
      `There is no part ${JSON.stringify(part)}. Use one of ${[...language.keys()].join(', ')}.`,
    );
  return { content: [{ type: 'text', text: JSON.stringify(schema) }] };
}

/** Finds the operations whose names and descriptions match the most words of a query. */
export function findOperations(callable: ReadonlyMap<string, Tool>, { query }: Arguments): ToolResult {
  const exact = callable.get(String(query));
  const words = wordsOf(String(query));
  const scored = [...callable.values()]
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0);
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const found = exact
    ? [exact]
    : scored
        .filter(({ score }) => score >= best / 2)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, mostMatches)
        .map(({ tool }) => tool);
  const operations = found.map(({ listed: { name, title, description, inputSchema, annotations } }) =>
    found.length <= describedMatches
      ? { name, description, arguments: inputSchema, ...hints(annotations) }
      : { name, summary: title, ...hints(annotations) },
  );
  const note =
    operations.length === 0
      ? 'No operation matches. Try other words.'
      : found.length > describedMatches
        ? `Pass the name of an operation to ${findOperationsToolName} to see its arguments.`
        : undefined;
  const answer = { operations, ...(note !== undefined && { note }) };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

const hints = ({ readOnlyHint, destructiveHint }: ListedTool['annotations']): object => ({
  ...(readOnlyHint && { read_only: true }),
  ...(destructiveHint && { destructive: true }),
});

/**
 * Returns words in lower case, without plural and verb endings, so that "invites" finds `create_invitations`.
 */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) =>
    word.length > 4 ? word.replace(/(ations?|ions?|ing|e?s|ed|e)$/, '') : word,
  );

/** Scores a tool. A word in the tool's name counts three times as much as one in its description. */
function scoreOf({ listed: { name, title, description } }: Tool, words: readonly string[]): number {
  const [inName, inText] = [name, `${title} ${description}`.toLowerCase()];
  return words.reduce(
    (sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0),
    0,
  );
}

/**
 * Reads the arguments of `call_operation`.
 * @throws ApiError bad_request for an operation that does not exist or that the key may not call.
 */
export function parseOperationCall(
  callable: ReadonlyMap<string, Tool>,
  { name, arguments: given = {} }: Arguments,
): { tool: Tool; given: Arguments } {
  const tool = callable.get(String(name));
  if (!tool)
    throw new ApiError(
      'bad_request',
      `There is no operation ${JSON.stringify(name)} for this API key. ${findOperationsToolName} lists the operations.`,
    );
  if (!isRecord(given)) throw new ApiError('bad_request', '`arguments` must be an object.');
  return { tool, given };
}
