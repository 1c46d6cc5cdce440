import { ApiError } from '#kit/errors.ts';
import { type Api, call } from '../cli/api.ts';
import { type OperationName, routeOf } from '../routes.ts';
import { marked } from './call-tool.ts';
import { isUntrusted, languageUri, type Tool, toolName, type Tools } from './tools.ts';

type Context = { api: Api; tools: Tools; open: ReadonlyMap<string, Tool> };

/** What can be read by its address too: the path of its operation. */
const readable = ['getForm', 'getFormSchema', 'getSubmission'] as const satisfies readonly OperationName[];

const json = 'application/json';
const formsAtOnce = 50;

const openTool = ({ open }: Context, name: OperationName): Tool | undefined => open.get(toolName(name));

/** `/forms/:id` is `formloom://forms/{id}`. */
const uriOf = (name: OperationName): string =>
  `formloom:/${routeOf(name).path.replaceAll(/:(\w+)/g, '{$1}')}`;

/** The addresses of what a caller may read. */
export const templates = (context: Context) =>
  readable.flatMap((name) => {
    const tool = openTool(context, name);
    if (!tool) return [];
    const { title, description } = tool.listed;
    return [{ uriTemplate: uriOf(name), name: tool.listed.name, title, description, mimeType: json }];
  });

/** The form language, and the forms, page by page. */
export async function listResources(context: Context, cursor: string | undefined) {
  const language = {
    uri: languageUri,
    name: 'form-language',
    title: 'The form language',
    description: 'The JSON Schema of the tree that a form is.',
    mimeType: json,
  };
  const own = cursor === undefined ? [language] : [];
  if (!openTool(context, 'listForms') || !openTool(context, 'getForm')) return { resources: own };
  const query = { cursor: cursor ?? '*', per_page: formsAtOnce };
  const { data, next_cursor: next } = await call(context.api, 'listForms', { query });
  const forms = data.map(({ id, name, status, description }) => ({
    uri: uriOf('getForm').replace('{id}', id),
    name,
    description: [status, description].filter(Boolean).join(': '),
    mimeType: json,
  }));
  return { resources: [...own, ...forms], ...(next && { nextCursor: next }) };
}

/** @throws ApiError not_found for what is at no address, and what the operation refuses. */
export async function readResource(context: Context, uri: string) {
  const content = (text: string) => ({ contents: [{ uri, mimeType: json, text }] });
  if (uri === languageUri) return content(JSON.stringify(context.tools.language));
  for (const name of readable) {
    const id = new RegExp(`^${uriOf(name).replace('{id}', '([^/]+)')}$`).exec(uri)?.[1];
    const tool = id === undefined ? undefined : openTool(context, name);
    if (!tool) continue;
    const { value } = await context.api({ name, params: { id: id! } });
    const text = JSON.stringify(value);
    return isUntrusted(tool.route)
      ? { contents: [{ uri, mimeType: 'text/plain', text: marked(text) }] }
      : content(text);
  }
  throw new ApiError('not_found');
}
