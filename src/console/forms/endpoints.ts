import { copyAsNewForm } from '#forms/drafts/copy.ts';
import { readBuilderForm, saveWorkingCopy } from '#forms/drafts/draft.ts';
import { publishWorkingCopy } from '#forms/drafts/publish.ts';
import { publicUrlOf } from '#forms/present.ts';
import { requireForm } from '#forms/require-form.ts';
import { changeSettings } from '#forms/settings.ts';
import { changeStatus } from '#forms/status.ts';
import { Type } from 'typebox';
import { pageParameters } from '#kit/pagination.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { countAnswersByElement } from './answer-counts.ts';
import type { BuilderForm } from './shapes.ts';
import {
  CopyRequest,
  DraftSave,
  formParameter,
  PublishRequest,
  SettingsRequest,
  StatusRequest,
  versionParameter,
} from './shapes.ts';
import { listFormVersions, readVersion } from './versions.ts';

/** What the builder asks for (docs/rules.md 5, B1-B6). Viewers may look, editors may change. */
export function formsConsoleRoutes({ database, config }: ConsoleServices): readonly ConsoleRoute[] {
  const open = async (workspaceId: string, id: string) => {
    const { form, draft } = await readBuilderForm(database, workspaceId, id);
    const { version, structure, settings, version_created_at, version_created_by, ...own } = form;
    const live = {
      version,
      structure,
      settings,
      created_at: version_created_at,
      created_by: version_created_by,
    };
    const shown = { ...own, public_url: publicUrlOf(config, id) };
    return { form: shown, live, draft } satisfies Record<keyof BuilderForm, object>;
  };

  const read = consoleEndpoint({
    role: 'viewer',
    params: formParameter,
    run: async ({ workspaceId, params }) => ({ status: 200, body: await open(workspaceId, params.form) }),
  });

  const save = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: DraftSave,
    async run({ workspaceId, user, params, body }) {
      const { base_version: baseVersion, ...copy } = body;
      const change = { ...copy, workspaceId, formId: params.form, baseVersion, userId: user.id };
      return { status: 200, body: await saveWorkingCopy(database, change) };
    },
  });

  const publish = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: PublishRequest,
    async run({ workspaceId, user, params, body }) {
      await publishWorkingCopy(database, { workspaceId, formId: params.form, ...body, userId: user.id });
      return { status: 200, body: await open(workspaceId, params.form) };
    },
  });

  const status = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: StatusRequest,
    async run({ workspaceId, params, body }) {
      await changeStatus(database, workspaceId, params.form, body.status);
      return { status: 200, body: await open(workspaceId, params.form) };
    },
  });

  const settings = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: SettingsRequest,
    async run({ workspaceId, user, params, body }) {
      const changed = await changeSettings(database, workspaceId, params.form, body.settings, user.id);
      return { status: 200, body: { settings: changed } };
    },
  });

  const copy = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: CopyRequest,
    async run({ workspaceId, user, params, body }) {
      const request = { ...body, workspaceId, formId: params.form, userId: user.id };
      return { status: 201, body: await copyAsNewForm(database, request) };
    },
  });

  const versions = consoleEndpoint({
    role: 'viewer',
    params: formParameter,
    query: Type.Object(pageParameters, { additionalProperties: false }),
    run: async ({ workspaceId, params, query }) => ({
      status: 200,
      body: await listFormVersions(database, workspaceId, params.form, query),
    }),
  });

  const version = consoleEndpoint({
    role: 'viewer',
    params: versionParameter,
    run: async ({ workspaceId, params }) => ({
      status: 200,
      body: await readVersion(database, workspaceId, params.form, params.version),
    }),
  });

  const answers = consoleEndpoint({
    role: 'viewer',
    params: formParameter,
    async run({ workspaceId, params }) {
      await requireForm(database, { workspaceId, formId: params.form });
      return { status: 200, body: await countAnswersByElement(database, workspaceId, params.form) };
    },
  });

  const form = '/workspaces/:workspace/forms/:form';
  return [
    ['GET', `${form}/builder`, read],
    ['PUT', `${form}/draft`, save],
    ['POST', `${form}/publish`, publish],
    ['PUT', `${form}/status`, status],
    ['PATCH', `${form}/settings`, settings],
    ['POST', `${form}/copies`, copy],
    ['GET', `${form}/versions`, versions],
    ['GET', `${form}/versions/:version`, version],
    ['GET', `${form}/answer-counts`, answers],
  ];
}
