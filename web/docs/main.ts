import './page.css';
import { writeGuides } from './guides.ts';
import { addSamples, type Document } from './samples.ts';

declare const Scalar: { createApiReference(selector: string, configuration: object): void };

/** Of the renderer's languages Python and Node's own client stay beside curl; TypeScript is ours (samples.ts). */
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
// Tried out where it is read, also under another name of this service.
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
  // Nothing of this page goes anywhere but to this service.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
});
