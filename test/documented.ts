import { Compile } from 'typebox/schema';
import type { OpenApi, Operation } from '#app/openapi.ts';

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
};

type Response = { headers?: Record<string, object>; content?: { 'application/json': { schema: object } } };

export function holdAgainst(document: OpenApi): Documented {
  const checks = new Map<object, ReturnType<typeof Compile>>();
  const compile = (schema: object): ReturnType<typeof Compile> => {
    const known = checks.get(schema);
    if (known) return known;
    // References lead into the document, so the schema is read as a part of it.
    const compiled = Compile({ allOf: [schema], components: document.components });
    checks.set(schema, compiled);
    return compiled;
  };
  const errorAnswer = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };

  const operationOf: Documented['operationOf'] = (method, path) => {
    const [plain] = path.split('?');
    // A path without parameters goes first: /submissions/search is no submission.
    const templates = Object.keys(document.paths).sort(
      (a, b) => Number(a.includes('{')) - Number(b.includes('{')),
    );
    const template = templates.find((candidate) =>
      new RegExp(`^${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain!),
    );
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = template === undefined ? undefined : document.paths[template]?.[name];
    return operation && { operation, name: `${name.toUpperCase()} ${template}` };
  };

  return {
    paths: document.paths,
    operationOf,
    problems(method, path, { status, headers, body }) {
      const found = operationOf(method, path);
      // What is not in the document is answered by an error in its shape.
      const response: Response | undefined = found
        ? found.operation.responses[status]
        : status >= 400
          ? errorAnswer
          : method === 'OPTIONS' && status === 204
            ? {}
            : undefined;
      if (!response) return [`${method} ${path} answered ${status}, which is not documented`];
      const missing = Object.keys(response.headers ?? {}).filter((name) => !headers.has(name));
      const problems = missing.map((name) => `${method} ${path}: ${status} has no ${name}`);
      if (method === 'HEAD') return problems;
      if (!response.content)
        return body === undefined ? problems : [...problems, `${method} ${path}: ${status} has a body`];
      const check = compile(response.content['application/json'].schema);
      if (check.Check(body)) return problems;
      const [, errors] = check.Errors(body);
      return [
        ...problems,
        `${method} ${path}: ${status} does not fit its schema: ${JSON.stringify(errors).slice(0, 500)}`,
      ];
    },
  };
}
