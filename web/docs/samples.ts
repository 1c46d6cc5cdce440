/** The OpenAPI document, as far as this page reads it. */
export type Document = {
  info: { description: string };
  servers: { url: string }[];
  tags: { name: string; 'x-displayName'?: string }[];
  paths: Record<string, Record<string, Operation>>;
};

type Operation = {
  servers?: { url: string }[];
  security: object[];
  parameters: { name: string; in: string; required: boolean; example?: string | number | boolean }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
};

/** Gives every operation an example in TypeScript; those in other languages the renderer writes itself. */
export function addSamples({ servers, paths }: Document): void {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const base = (operation.servers ?? servers)[0]!.url;
      const source = writeTypeScript(base + path, method.toUpperCase(), operation);
      operation['x-codeSamples'] = [{ lang: 'typescript', label: 'TypeScript', source }];
    }
}

function writeTypeScript(address: string, method: string, operation: Operation): string {
  const query = operation.parameters.filter(({ in: place, required }) => place === 'query' && required);
  const search = new URLSearchParams(query.map(({ name, example }) => [name, String(example ?? 'words')]));
  const content = operation.requestBody?.content ?? {};
  const [file] = Object.keys(content).filter((type) => type.startsWith('image/'));
  const body = content['application/json']?.example;
  const headers = [
    ...(operation.security.length > 0 ? ['Authorization: `Bearer ${process.env.API_KEY}`'] : []),
    ...(file === undefined ? [] : [`'Content-Type': '${file}'`]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const lines = [
    `method: '${method}',`,
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} },`] : []),
    ...(file === undefined ? [] : [`body: await readFile('${file.replace('/', '.')}'),`]),
    ...(body === undefined
      ? []
      : [`body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
  ];
  // What stands in braces is filled in.
  const url = `${address}${search.size > 0 ? `?${search.toString()}` : ''}`.replaceAll('{', '${');
  const quote = url.includes('${') ? '`' : "'";
  return [
    `const response = await fetch(${quote}${url}${quote}, {`,
    ...lines.map((line) => `  ${line}`),
    '});',
    'if (!response.ok) throw new Error((await response.json()).message);',
    ...(method === 'DELETE' ? [] : ['const answer = await response.json();']),
  ].join('\n');
}
