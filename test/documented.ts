import { Compile } from 'typebox/schema';
import type { OpenApi, Operation, Response } from '#app/openapi/schemas.ts';

/** An answer of the API, as much of it as the document speaks about. */
type Answered = { status: number; headers: Headers; body: unknown };

/**
 * Holds answers against the OpenAPI document: is the status documented, are its headers there, does the body fit its
 * schema. Returns what does not, in words; nothing for an answer that is as documented.
 */
export type Documented = {
  paths: OpenApi['paths'];
  /** The operation that a request is for; undefined where the document has none. */
  operationOf(method: string, path: string): { operation: Operation; name: string } | undefined;
  problems(method: string, path: string, answer: Answered): string[];
  /** Whether a value is one that a schema of the document takes. */
  takes(schema: object, value: unknown): boolean;
};

export function holdAgainst(document: OpenApi): Documented {
  const checks = new Map<string, ReturnType<typeof Compile>>();
  /** By what they say: many operations answer the same, and to compile one takes 10 ms. */
  const compile = (schema: object): ReturnType<typeof Compile> => {
    const text = JSON.stringify(schema);
    const known = checks.get(text);
    if (known) return known;
    // References lead into the document, so the schema is read as a part of it.
    const compiled = Compile({ allOf: [schema], components: document.components });
    checks.set(text, compiled);
    return compiled;
  };
  const schema = { $ref: '#/components/schemas/Error' };
  const errorAnswer: Response = { description: '', content: { 'application/json': { schema } } };
  /** An answer of an operation; many are shared by all of them. */
  const responseOf = ({ responses }: Operation, status: number): Response | undefined => {
    const found = responses[status];
    return found && '$ref' in found
      ? document.components.responses[found.$ref.replace('#/components/responses/', '')]
      : found;
  };
  /** Whether every answer has it: others come only sometimes. */
  const isRequired = (header: object): boolean => {
    const name = '$ref' in header ? String(header.$ref).replace('#/components/headers/', '') : '';
    return document.components.headers[name]!.required;
  };

  // A path with fewer parameters goes first: /submissions/search is no submission.
  const templates = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, shape: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
  const operationOf: Documented['operationOf'] = (method, path) => {
    const [plain] = path.split('?');
    const template = templates.find(({ shape }) => shape.test(plain!))?.path;
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = template === undefined ? undefined : document.paths[template]?.[name];
    return operation && { operation, name: `${name.toUpperCase()} ${template}` };
  };

  return {
    paths: document.paths,
    operationOf,
    takes: (schema, value) => compile(schema).Check(value),
    problems(method, path, { status, headers, body }) {
      const found = operationOf(method, path);
      // What is not in the document is answered by an error in its shape.
      const response: Response | undefined = found
        ? responseOf(found.operation, status)
        : status >= 400
          ? errorAnswer
          : method === 'OPTIONS' && status === 204
            ? { description: '' }
            : undefined;
      if (!response) return [`${method} ${path} answered ${status}, which is not documented`];
      const missing = Object.entries(response.headers ?? {})
        .filter(([name, header]) => isRequired(header) && !headers.has(name))
        .map(([name]) => name);
      const untold = method === 'GET' && found && headers.has('etag') && !response.headers?.['ETag'];
      const problems = [
        ...missing.map((name) => `${method} ${path}: ${status} has no ${name}`),
        ...(untold ? [`${method} ${path}: ${status} has an ETag, which is not documented`] : []),
      ];
      if (method === 'HEAD') return problems;
      if (response.content && !('application/json' in response.content)) return problems;
      if (!response.content)
        return body === undefined ? problems : [...problems, `${method} ${path}: ${status} has a body`];
      const { schema: expected } = response.content['application/json']!;
      const check = compile(expected);
      if (check.Check(body)) return problems;
      const [, errors] = check.Errors(body);
      return [
        ...problems,
        `${method} ${path}: ${status} does not fit its schema: ${JSON.stringify(errors).slice(0, 500)}`,
      ];
    },
  };
}
