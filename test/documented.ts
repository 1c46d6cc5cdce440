import { Compile } from 'typebox/schema';
import type { OpenApi, OpenApiOperation, OpenApiResponse } from '#app/openapi/schemas.ts';

/** The parts of an API answer that the document describes. */
type Answered = { status: number; headers: Headers; body: unknown };

/**
 * Compares answers with the OpenAPI document: whether the status is documented, headers are present and the
 * body fits its schema. Returns the problems in words, and none for a documented answer.
 */
export type Documented = {
  paths: OpenApi['paths'];
  /** Returns the operation of a request, or undefined if the document has none. */
  operationOf(method: string, path: string): { operation: OpenApiOperation; name: string } | undefined;
  problems(method: string, path: string, answer: Answered): string[];
  /** Whether a value fits a schema of the document. */
  takes(schema: object, value: unknown): boolean;
};

export function holdAgainst(document: OpenApi): Documented {
  const checks = new Map<string, ReturnType<typeof Compile>>();
  /** Cached by content: many operations have equal answers, and compiling takes 10 ms. */
  const compile = (schema: object): ReturnType<typeof Compile> => {
    const text = JSON.stringify(schema);
    const known = checks.get(text);
    if (known) return known;
    // References point into the document, so the schema is compiled with its components.
    const compiled = Compile({ allOf: [schema], components: document.components });
    checks.set(text, compiled);
    return compiled;
  };
  const schema = { $ref: '#/components/schemas/Error' };
  const errorAnswer: OpenApiResponse = { description: '', content: { 'application/json': { schema } } };
  /** Returns a response of an operation and resolves the shared ones. */
  const responseOf = ({ responses }: OpenApiOperation, status: number): OpenApiResponse | undefined => {
    const found = responses[status];
    return found && '$ref' in found
      ? document.components.responses[found.$ref.replace('#/components/responses/', '')]
      : found;
  };
  /** Whether every answer must have this header. Others are optional. */
  const isRequired = (header: object): boolean => {
    const name = '$ref' in header ? String(header.$ref).replace('#/components/headers/', '') : '';
    return document.components.headers[name]!.required;
  };

  // Paths with fewer parameters go first, because /submissions/search is not a submission.
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
      // A request that is not in the document must get an error in the documented shape.
      const response: OpenApiResponse | undefined = found
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
