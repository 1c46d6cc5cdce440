import { type Static, Type } from 'typebox';
import type { Settings } from '#ast/settings.ts';
import { formStatuses } from '#forms/queries.ts';
import { Pagination } from '#kit/pagination.ts';

const timestamp = Type.String({ format: 'date-time' });
const maybeTimestamp = Type.Union([timestamp, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const structure = Type.Unsafe<object>({ type: 'object' });
/** All but the password. Those of a working copy may be incomplete, as its structure may. */
const settings = Type.Unsafe<Settings>({ type: 'object' });
const wholeNumber = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** Path parameters below `/workspaces/:workspace/forms/:form`. */
export const formParameter = Type.Object({ form: Type.String({ format: 'uuid' }) });
export const versionParameter = Type.Object({
  form: Type.String({ format: 'uuid' }),
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});

const working = {
  /** Stands for If-Match: a save or a publication names the revision that it was made on. */
  revision: wholeNumber,
  structure,
  base_version: wholeNumber,
};

/** What a save sends. Settings that it leaves out stay. */
export const DraftSave = Type.Object(
  { ...working, settings: Type.Optional(settings) },
  { additionalProperties: false },
);
export type DraftSave = Static<typeof DraftSave>;

/** What a save answers. */
export const DraftSaved = Type.Object({ revision: wholeNumber, saved_at: timestamp });
export type DraftSaved = Static<typeof DraftSaved>;

/** A form as the builder opens it: its live version and its working copy, each a document of structure and settings. */
export const BuilderForm = Type.Object({
  form: Type.Object({
    id: Type.String({ format: 'uuid' }),
    workspace_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    status: Type.Enum([...formStatuses]),
    /** The password itself is only ever written, and holds at once: it is part of no working copy and no version. */
    has_password: Type.Boolean(),
    submission_count: Type.Integer(),
    public_url: Type.String({ format: 'uri' }),
    created_at: timestamp,
    updated_at: timestamp,
    published_at: maybeTimestamp,
  }),
  live: Type.Object({
    version: Type.Integer(),
    structure,
    settings,
    created_at: timestamp,
    /** The person who published it in the builder; null for the API. */
    created_by: maybeText,
  }),
  draft: Type.Object({ ...working, settings, saved_at: maybeTimestamp, saved_by: maybeText }),
});
export type BuilderForm = Static<typeof BuilderForm>;

/** What was seen when "Publish" was pressed. */
export const PublishRequest = Type.Object(
  { revision: wholeNumber, version: wholeNumber },
  { additionalProperties: false },
);
export const StatusRequest = Type.Object(
  { status: Type.Enum([...formStatuses]) },
  { additionalProperties: false },
);
export const SettingsRequest = Type.Object(
  { settings: Type.Unsafe<object>({ type: 'object' }) },
  { additionalProperties: false },
);
export const CopyRequest = Type.Object(
  { structure, settings: Type.Optional(settings) },
  { additionalProperties: false },
);

const version = {
  version: Type.Integer(),
  name: Type.String(),
  created_at: timestamp,
  created_by: maybeText,
  is_live: Type.Boolean(),
};
export const VersionList = Type.Object({ data: Type.Array(Type.Object(version)), pagination: Pagination });
export type VersionList = Static<typeof VersionList>;
export const VersionDetail = Type.Object({
  ...version,
  structure,
  /** Null: the version is older than the recording of settings. */
  settings: Type.Union([settings, Type.Null()]),
});
export type VersionDetail = Static<typeof VersionDetail>;

/** How many of the newest submissions answer each element; `scanned` of them were looked at. */
export const AnswerCounts = Type.Object({
  scanned: Type.Integer(),
  counts: Type.Record(Type.String(), Type.Integer()),
});
export type AnswerCounts = Static<typeof AnswerCounts>;
