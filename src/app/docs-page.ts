import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { type Html, html, toText, verbatim } from '#page/render/html.ts';
import { docsStyle } from './docs-style.ts';
import type { OpenApi, Operation } from './openapi/types.ts';

const styleHash = createHash('sha256').update(docsStyle).digest('base64');

/** The reference page: the OpenAPI document for people. It says what the document says, and loads nothing else. */
export function docsPage(reply: FastifyReply, openApi: OpenApi): FastifyReply {
  return reply
    .headers({
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
    })
    .type('text/html; charset=utf-8')
    .send(writeDocs(openApi));
}

/** The page's text. */
export function writeDocs(openApi: OpenApi): string {
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const base = openApi.servers[0]!.url;
  return toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${openApi.info.title}</title>
<style>${verbatim(docsStyle)}</style>
</head>
<body>
<nav aria-label="Reference">
<p class="brand">${openApi.info.title}</p>
<ul>
<li><a href="#start">Getting started</a></li>
${operations.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}
<li><a href="#structure">Form structure</a></li>
<li><a href="/api/v1/openapi.json">openapi.json</a></li>
</ul>
</nav>
<main>
<h1>${openApi.info.title}</h1>
<p class="lead">${openApi.info.description}</p>
<section id="start">
<h2>Getting started</h2>
<p>Make a key with <code>npm run -s formloom -- key create --workspace &lt;id&gt; --name "My key"</code>, then:</p>
<pre><code>curl ${base}/forms \\
  -H "Authorization: Bearer $API_KEY"</code></pre>
<p>Timestamps are ISO 8601 in UTC, ids are UUIDs. Lists are newest first and take <code>page</code> and <code>per_page</code>.
An error has an <code>error</code> code and a <code>message</code>; validation adds <code>errors</code>.
Every answer says how much of the rate limit is left.</p>
</section>
${operations.map(({ path, method, operation }) => writeOperation(openApi, method, path, operation))}
<section id="structure">
<h2>Form structure</h2>
<p>A form is a tree: a form holds steps, a step holds elements, a composite holds elements again.
Every node is <code>{"type", "attrs", "children"}</code>. Attributes that are not known are kept as they are.</p>
${writeElements(openApi)}
</section>
</main>
</body>
</html>`);
}

function writeOperation(openApi: OpenApi, method: string, path: string, operation: Operation): Html {
  const body: { properties?: Record<string, Schema>; required?: string[] } | undefined =
    operation.requestBody?.content['application/json']?.schema;
  const fields = Object.entries(body?.properties ?? {});
  return html`<section id="${operation.operationId}">
<h2>${operation.summary}</h2>
<p class="path"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
${operation.description.split('\n\n').map((paragraph) => html`<p>${writeCode(paragraph)}</p>`)}
${
  operation.parameters.length > 0 &&
  writeTable(
    'Parameters',
    operation.parameters.map(({ name, in: place, required, description, schema }) => ({
      name,
      type: `${describeSchema(schema as Schema)}, ${place}`,
      text: [required ? 'Required.' : '', description ?? '', defaultOf(schema as Schema)]
        .filter(Boolean)
        .join(' '),
    })),
  )
}
${
  fields.length > 0 &&
  writeTable(
    'Body',
    fields.map(([name, schema]) => ({
      name,
      type: describeSchema(schema),
      text: [body?.required?.includes(name) ? 'Required.' : '', schema.description ?? '', defaultOf(schema)]
        .filter(Boolean)
        .join(' '),
    })),
  )
}
${writeTable(
  'Answers',
  Object.entries(operation.responses).map(([status, response]) => ({
    name: status,
    type: '',
    text:
      'description' in response
        ? response.description
        : (openApi.components.responses[response.$ref.split('/').at(-1)!]?.description ?? ''),
  })),
)}
</section>`;
}

type Schema = {
  type?: string;
  format?: string;
  enum?: string[];
  const?: string;
  $ref?: string;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
};

/** Texts of the document mark code with backticks. */
const writeCode = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

const describeSchema = (schema: Schema): string => {
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  const range =
    schema.minimum !== undefined && schema.maximum !== undefined
      ? ` ${schema.minimum}–${schema.maximum}`
      : '';
  return `${schema.format ?? schema.type ?? 'any'}${range}`;
};

const defaultOf = (schema: Schema): string =>
  schema.default === undefined ? '' : `Default ${JSON.stringify(schema.default)}.`;

function writeTable(caption: string, rows: readonly { name: string; type: string; text: string }[]): Html {
  return html`<table><caption>${caption}</caption><tbody>
${rows.map(({ name, type, text }) => html`<tr><th scope="row"><code>${name}</code></th><td>${type}</td><td>${text}</td></tr>`)}
</tbody></table>`;
}

/** One row per node type, from the named schemas of the form language. */
function writeElements(openApi: OpenApi): Html {
  const schemas = Object.entries(openApi.components.schemas) as [string, Schema][];
  const nodes = schemas.flatMap(([, schema]) => {
    const type = schema.properties?.['type']?.const;
    const attrs = schema.properties?.['attrs'];
    return type === undefined
      ? []
      : [{ type, required: attrs?.required ?? [], names: Object.keys(attrs?.properties ?? {}) }];
  });
  return html`<table><caption>Node types and their attributes</caption><tbody>
${nodes.map(
  ({ type, required, names }) =>
    html`<tr><th scope="row"><code>${type}</code></th><td>${names.map(
      (name, index) =>
        html`${index > 0 && ', '}${required.includes(name) ? html`<strong>${name}</strong>` : name}`,
    )}</td></tr>`,
)}
</tbody></table><p>Required attributes are in bold.</p>`;
}
