import './page.css';

/** The parts of the OpenAPI document that this page uses. */
type Document = {
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

/** Adds a TypeScript example to every operation. The renderer writes examples in other languages. */
function addSamples({ servers, paths }: Document): void {
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
  // Turns path parameters into template expressions.
  const url = `${address}${search.size > 0 ? `?${search.toString()}` : ''}`.replaceAll('{', '${');
  const quote = url.includes('${') ? '`' : "'";
  return [
    `const response = await fetch(${quote}${url}${quote}, {`,
    ...lines.map((line) => `  ${line}`),
    '});',
    'if (!response.ok) throw new Error((await response.json()).message);',
    ...(method === 'DELETE' ? [] : ['const result = await response.json();']),
  ].join('\n');
}

const texts = import.meta.glob<string>('../../docs/guides/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** The guides in reading order. Each begins with its title. */
const order = [
  'first-form',
  'submissions',
  'search',
  'webhooks',
  'importing',
  'forms-as-code',
  'errors',
  'limits',
  'idempotency-and-concurrency',
  'permissions',
];

/** The origin of a newly started server in the guides' examples. */
const exampleOrigin = 'http://127.0.0.1:3000';

/**
 * Joins the guides into one text. Links between guides become links within the page, and examples use this
 * server.
 */
function writeGuides(origin: string): string {
  const guides = order.map((name) => texts[`../../docs/guides/${name}.md`]!);
  return guides
    .join('\n\n')
    .replaceAll(exampleOrigin, origin)
    .replaceAll(/\]\((\w[\w-]*)\.md(#[\w-]+)?\)/g, (_match, name: string) => `](#description/${name})`);
}

declare const Scalar: { createApiReference(selector: string, configuration: object): void };

/**
 * Shows only curl, Python and Node's built-in client from the renderer's languages. The TypeScript examples
 * come from main.ts.
 */
const hiddenClients = {
  c: true,
  clojure: true,
  csharp: true,
  dart: true,
  fsharp: true,
  go: true,
  http: true,
  java: true,
  js: true,
  kotlin: true,
  node: ['axios', 'fetch', 'ofetch'],
  objc: true,
  ocaml: true,
  php: true,
  powershell: true,
  python: ['aiohttp', 'httpx_async', 'httpx_sync'],
  r: true,
  ruby: true,
  rust: true,
  shell: ['httpie', 'wget'],
  swift: true,
};

const response = await fetch('/api/v1/openapi.json');
const openApi = (await response.json()) as Document;
// Requests go to the origin of this page, even if the server has several host names.
const { origin } = window.location;
openApi.servers = [{ url: `${origin}/api/v1` }];
for (const methods of Object.values(openApi.paths))
  for (const operation of Object.values(methods))
    if (operation.servers) operation.servers = [{ url: origin }];
addSamples(openApi);
for (const tag of openApi.tags) tag['x-displayName'] = tag.name.slice(0, 1).toUpperCase() + tag.name.slice(1);
openApi.info.description += `\n\n${writeGuides(origin)}`;

Scalar.createApiReference('#reference', {
  content: openApi,
  hiddenClients,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenFirstTag: false,
  // The page must not load anything from other servers.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
});
