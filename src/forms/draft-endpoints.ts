import type { Static } from 'typebox';
import type { Database } from '#kit/database.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { listParameters } from '#kit/pagination.ts';
import { strictObject } from '#kit/validation.ts';
import { personIdOf } from '#workspaces/authenticate.ts';
import {
  type BuilderForm,
  type DraftChange,
  draftEtagOf,
  readBuilderForm,
  requireRevision,
  revisionsIn,
  saveWorkingCopy,
} from './draft.ts';
import { dryRun } from './dry-run.ts';
import { type FormAddresses, publicUrlOf, readForm } from './form-rows.ts';
import { requireAllowedSettings } from './settings.ts';
import {
  ChangedForm,
  Draft,
  DraftSave,
  DraftSaved,
  dryRunParameter,
  exampleStructure,
  PublishBody,
  VersionDetail,
  VersionList,
  versionParameters,
} from './shapes.ts';
import { listFormVersions, publishWorkingCopy, readVersion, requirePublishable } from './versions.ts';

/** Formats a working copy for the API, with its ETag. The ETag also changes when the live form changes. */
function presentDraft({ form: { domain, ...form }, draft }: BuilderForm, addresses: FormAddresses) {
  const { version, structure, settings, version_created_at, version_created_by, ...own } = form;
  const tag = draftEtagOf(
    draft.revision,
    `${version}.${own.updated_at.getTime().toString(36)}.${own.submission_count}`,
  );
  const body: Static<typeof Draft> = {
    ...asWireValue(draft),
    // A saved structure is an object, but its parts may be anything.
    structure: draft.structure,
    settings: draft.settings,
    etag: tag,
    live: {
      version,
      structure,
      settings,
      created_at: asWireValue(version_created_at),
      created_by: version_created_by,
    },
    form: {
      ...asWireValue(own),
      public_url: publicUrlOf(addresses, { id: own.id, domain, slug: settings.slug }),
    },
  };
  return { body, tag };
}

const example = { structure: exampleStructure, settings: { confirmation_message: 'Thank you.' } };

/** Operations on the working copy of a form and on its versions. */
export function draftEndpoints({ database, addresses }: { database: Database; addresses: FormAddresses }) {
  const place = ({ workspaceId }: RequestScope, { id: formId }: { id: string }) => ({ workspaceId, formId });

  const save = async (
    scope: RequestScope,
    change: Pick<DraftChange, 'formId' | 'revisions' | 'structure' | 'settings' | 'baseVersion'>,
  ) => {
    const { workspaceId } = scope;
    await requireAllowedSettings(
      scope,
      change.settings,
      async () => (await readBuilderForm(database, workspaceId, change.formId)).draft.settings,
    );
    const saved = await saveWorkingCopy(database, {
      ...change,
      workspaceId,
      userId: personIdOf(scope.actor),
    });
    const tag = draftEtagOf(saved.revision);
    return { body: { ...asWireValue(saved), etag: tag }, tag };
  };

  return {
    getDraft: operation({
      summary: 'Get draft',
      description:
        'Returns the structure and settings of the working copy, complete or not, together with the live version. If there is no working copy, returns the structure and settings of the live version.',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The working copy.', schema: Draft },
      async run({ workspaceId, params }) {
        return presentDraft(await readBuilderForm(database, workspaceId, params.id), addresses);
      },
    }),

    saveDraft: operation({
      summary: 'Save draft',
      description:
        "Saves the whole working copy, complete or not. Visitors see it once it is published. Send If-Match to avoid overwriting another person's changes. Passwords are not saved.",
      permission: 'forms:write',
      audit: { none: 'The draft is saved while people type. Publishing has an audit entry.' },
      params: idParameter,
      query: dryRunParameter,
      body: DraftSave,
      example: { body: example },
      isConditional: true,
      reply: { status: 200, description: 'The saved revision.', schema: DraftSaved },
      async run({ params, query, body, unchanged, ...scope }) {
        const { base_version: baseVersion, ...document } = body;
        const revisions = revisionsIn(unchanged);
        if (!query.dry_run) return save(scope, { ...document, formId: params.id, revisions, baseVersion });
        const { draft } = await readBuilderForm(database, scope.workspaceId, params.id);
        await requireAllowedSettings(scope, document.settings, async () => draft.settings);
        requireRevision(draft, revisions);
        const candidate = { settings: draft.settings, ...document };
        const found = await dryRun(database, { ...scope, formId: params.id }, candidate);
        const { revision, saved_at } = asWireValue(draft);
        const tag = draftEtagOf(revision);
        return { body: { revision, saved_at, etag: tag, dry_run: found }, tag };
      },
    }),

    publishForm: operation({
      summary: 'Publish form',
      description:
        'Publishes the working copy, as a new version if it differs from the live one. Send the ETag of the draft in If-Match, and the live version you compared it with in `version`.',
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      params: idParameter,
      query: dryRunParameter,
      body: PublishBody,
      isBodyOptional: true,
      example: { body: {} },
      errors: ['conflict'],
      isConditional: true,
      conditionOf: '/forms/:id/draft',
      reply: { status: 200, description: 'The form.', schema: ChangedForm },
      async run({ params, query, body, unchanged, ...scope }) {
        const key = place(scope, params);
        const seen = { ...body, revisions: revisionsIn(unchanged), caller: scope };
        if (!query.dry_run) {
          await publishWorkingCopy(database, { ...key, ...seen, userId: personIdOf(scope.actor) });
          return readForm(database, key);
        }
        const found = await readBuilderForm(database, key.workspaceId, key.formId);
        await requirePublishable(found, seen);
        const { body: form, tag } = await readForm(database, key);
        return { body: { ...form, dry_run: await dryRun(database, { ...scope, ...key }, found.draft) }, tag };
      },
    }),

    listVersions: operation({
      summary: 'List versions',
      description: 'Returns every version of the form, newest first, without structures.',
      permission: 'forms:read',
      params: idParameter,
      query: strictObject(listParameters),
      reply: { status: 200, description: 'A page of versions.', schema: VersionList },
      async run({ workspaceId, params, query }) {
        return { body: asWireValue(await listFormVersions(database, workspaceId, params.id, query)) };
      },
    }),

    getVersion: operation({
      summary: 'Get version',
      description: 'Returns a version with its structure and settings. Versions never change.',
      permission: 'forms:read',
      params: versionParameters,
      reply: { status: 200, description: 'The version.', schema: VersionDetail },
      async run({ workspaceId, params }) {
        const { created_at, ...version } = await readVersion(
          database,
          workspaceId,
          params.id,
          params.version,
        );
        return { body: { ...version, created_at: asWireValue(created_at) } };
      },
    }),

    restoreVersion: operation({
      summary: 'Restore version',
      description:
        'Copies a version into the working copy. Visitors see it once it is published. If the version has no recorded settings, those of the working copy are kept. Send the ETag of the draft in If-Match.',
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      params: versionParameters,
      isConditional: true,
      conditionOf: '/forms/:id/draft',
      reply: { status: 200, description: 'The saved revision.', schema: DraftSaved },
      async run({ params, unchanged, ...scope }) {
        const { structure, settings } = await readVersion(
          database,
          scope.workspaceId,
          params.id,
          params.version,
        );
        const document = { structure, settings: settings ?? undefined };
        return save(scope, { ...document, formId: params.id, revisions: revisionsIn(unchanged) });
      },
    }),
  };
}
