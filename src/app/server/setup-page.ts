import type { FastifyRequest } from 'fastify';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { resolveRequestError } from '#kit/validation.ts';
import { renderDocument } from '#page/markup/document.ts';
import { attributes, type Html, html } from '#page/markup/html.ts';
import { sendPage } from '#page/post/problem-page.ts';
import { renderNotice } from '#page/render/notices.ts';
import { plainPageStyle } from '#page/theme/page-style.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { addAuditEntry } from '#workspaces/audit/record-account-event.ts';
import type { SessionServices } from '#workspaces/sign-in/require-person.ts';
import { knownBrowserCookie } from '#workspaces/sign-in/second-factor-endpoints.ts';
import { signIn } from '#workspaces/sign-in/sign-in.ts';
import { completeSetup } from '#workspaces/workspaces.ts';
import { auditOriginOf } from '../operations/api.ts';

type Given = { email: string; password: string; workspace_name: string };
const fields = [
  {
    name: 'email',
    label: 'Email address',
    type: 'email',
    autocomplete: 'username',
    help: 'You sign in with this address.',
  },
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    help: 'At least 10 characters.',
  },
  {
    name: 'workspace_name',
    label: 'Workspace name',
    type: 'text',
    autocomplete: 'organization',
    help: 'Forms and API keys belong to a workspace, such as your team.',
  },
] as const satisfies readonly {
  name: keyof Given;
  label: string;
  type: string;
  autocomplete: string;
  help: string;
}[];

/** The key and the command are code, not the large code of a confirmation. */
const codeLook = {
  ...plainPageStyle,
  style: '.receipt code { font: 400 1rem/1.5 ui-monospace, monospace; letter-spacing: 0; }',
};

/**
 * Serves the one-time setup link that a first start prints. The page creates the first account, its workspace
 * and a first API key, signs the person in, and then closes (docs/rules.md C35). Rendered here, so that it
 * works before everything else. Only the Copy buttons of the last page need the script of the public page.
 */
export function setupRoutes(
  server: Server,
  services: SessionServices & { readonly script: string | undefined },
): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, new URLSearchParams(body as string));
    },
  );
  server.setErrorHandler((error, request, reply) => {
    const problem = resolveRequestError(error, request);
    return sendPage(
      reply,
      problem.status,
      renderNotice({ title: 'This link does not work', message: problem.message, language: 'en' }),
    );
  });

  server.get('/app/setup', (request, reply) =>
    sendPage(reply, 200, setupPage(tokenOf(request), undefined, [])),
  );

  server.post('/app/setup', async (request, reply) => {
    const token = tokenOf(request);
    const given = readGiven(request);
    try {
      const setup = await completeSetup(services.database, {
        token,
        email: given.email,
        password: given.password,
        workspaceName: given.workspace_name,
        plan: services.config.defaultPlan,
      });
      await addAuditEntry(services.database, {
        workspaceId: setup.workspaceId,
        operation: 'createWorkspace',
        by: { userId: setup.userId, origin: auditOriginOf(request) },
      });
      reply.header('Set-Cookie', await enter(services, request, given));
      const page = donePage(services.config.publicUrl, setup.apiKey, services.script);
      return await sendPage(reply, 200, page, codeLook);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.errors) throw error;
      return sendPage(reply, error.status, setupPage(token, given, error.errors));
    }
  });
}

/**
 * Returns the cookies of the person's first session, or none if that fails. The API key must be shown even
 * then, because it is only shown once.
 */
async function enter(
  services: SessionServices,
  request: FastifyRequest,
  { email, password }: Given,
): Promise<string[]> {
  const attempt = { address: ipRateLimitKey(request.ip), headers: new Headers(), device: undefined };
  try {
    const { cookies, device } = await signIn(services, attempt, { email, password });
    return [...cookies, ...knownBrowserCookie.write(services.config.publicUrl, device)];
  } catch (error) {
    request.log.warn({ err: error }, 'could not sign in the first person after setup');
    return [];
  }
}

function tokenOf(request: FastifyRequest): string {
  const { token } = request.query as { token?: unknown };
  if (typeof token !== 'string' || token === '')
    throw new ApiError('not_found', 'Use the setup link that the service printed when it started.');
  return token;
}

function readGiven(request: FastifyRequest): Given {
  if (!(request.body instanceof URLSearchParams)) throw new ApiError('unsupported_media_type');
  const { body } = request;
  const read = (name: keyof Given): string => body.get(name) ?? '';
  return {
    email: read('email').trim(),
    password: read('password'),
    workspace_name: read('workspace_name').trim(),
  };
}

function setupPage(token: string, given: Given | undefined, errors: readonly ErrorItem[]): string {
  return renderDocument({
    language: 'en',
    title: errors.length > 0 ? 'Error: Set up Formloom' : 'Set up Formloom',
    main: html`<header>\n<h1>Set up Formloom</h1>\n<p class="prose lead">Create the first account of this installation. This page can only be used once.</p>\n</header>\n<form${attributes({ method: 'post', action: `/app/setup?token=${encodeURIComponent(token)}`, novalidate: true })}>\n<section class="step"><div class="stack">\n${fields.map(
      (field) =>
        writeField(
          field,
          given,
          errors.filter((error) => error.field === field.name).map((error) => error.message),
        ),
    )}\n</div></section>\n<div class="actions"><button type="submit" class="submit">Create account</button></div>\n</form>`,
  });
}

function writeField(
  { name, label, type, autocomplete, help }: (typeof fields)[number],
  given: Given | undefined,
  messages: readonly string[],
): Html {
  const input = attributes({
    id: name,
    name,
    type,
    autocomplete,
    // A password is never included in a page again.
    value: type === 'password' ? undefined : given?.[name],
    'aria-describedby': `${name}-help ${name}-error`,
    'aria-invalid': messages.length > 0 ? 'true' : undefined,
  });
  return html`<div class="field labelled${messages.length > 0 && ' invalid'}">
<label for="${name}">${label}</label>
<div id="${name}-help" class="help"><p>${help}</p></div>
<div id="${name}-error" class="error">${messages.map((message) => html`<p>${message}</p>`)}</div>
<input${input}>
</div>
`;
}

/** Text that the page's script gives a Copy button (web/page/copy.ts). */
const copyable = (name: string, text: string): Html =>
  html`<p class="receipt copied"><code${attributes({ 'data-copy': 'Copy', 'data-copied': 'Copied', 'data-name': name })}>${text}</code></p>`;

function donePage(publicUrl: string, apiKey: string, script: string | undefined): string {
  const command = `curl ${publicUrl}/api/v1/forms -H "Authorization: Bearer ${apiKey}"`;
  return renderDocument({
    language: 'en',
    title: 'Formloom is set up',
    look: codeLook,
    script,
    main: html`<div class="notice">\n<h1 tabindex="-1" autofocus>Formloom is ready</h1>\n<p class="prose lead">Choose a template, publish it, and see the first submission arrive.</p>\n<form action="/app/"><div class="actions"><button type="submit" class="submit">Create your first form</button></div></form>\n<h2 class="step">API access</h2>\n<p class="prose">This is your first API key. It is only shown once, so keep it in a safe place.</p>\n${copyable('API key', apiKey)}\n<p class="prose">Try it:</p>\n${copyable('example request', command)}\n<p class="prose"><a href="/api/v1/docs">Read the API reference</a></p>\n</div>`,
  });
}
