import { type Static, Type } from 'typebox';
import { type ProblemCode, problemCodes } from '#ast/basics/problems.ts';
import type { Settings } from '#ast/settings.ts';
import { listParameters, listSchemaOf, namedObject } from '#kit/pagination.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { formSources } from './import/convert.ts';
import { labelFilter } from './labels.ts';
import { formStatuses } from './live-form.ts';

const maybeTimestamp = orNull(timestampSchema);
const maybeText = orNull(Type.String());

export const statusShape = Type.Enum([...formStatuses], {
  description: 'Only published forms accept submissions.',
});
/** A valid form as a tree. It has its own validator. */
export const structureShape = Type.Unsafe<object>({
  'x-component': 'Structure',
  description: 'The form as a tree. All problems are reported together, each with the path of its node.',
});
/** All settings as they were sent. They have their own validator (ast/settings.ts). */
export const settingsShape = Type.Unsafe<object>({
  'x-component': 'SettingsChange',
  description:
    'Replaces all settings except the password. `notification_email` and `notifications` also require the permission submissions:read.',
});
const shownStructure = Type.Unsafe<object>({ 'x-component': 'Structure' });
const shownSettings = Type.Unsafe<object>({ 'x-component': 'Settings' });
const anyStructure = Type.Unsafe<object>({
  type: 'object',
  description: 'A form as a tree, complete or not.',
});
/** All settings except the password. In a working copy, they may be incomplete, like its structure. */
const anySettings = Type.Unsafe<Settings>({ type: 'object', description: 'Settings, complete or not.' });
const wholeNumber = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** If `true`, nothing is stored, and `dry_run` describes what the change would do. */
export const dryRunParameter = strictObject({
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Stores nothing. `dry_run` in the response lists problems, warnings and affected answers.',
    }),
  ),
});

const judgement = {
  /**
   * Each problem prevents storing the form. It has a `path` in the structure, or the `field` of a setting.
   */
  problems: Type.Array(
    Type.Object({
      message: Type.String(),
      code: Type.Enum(Object.keys(problemCodes) as ProblemCode[]),
      field: Type.Optional(Type.String()),
      path: Type.Optional(Type.Array(Type.Integer())),
    }),
  ),
  /**
   * Names that look misspelled and empty composites. If there are no problems, also what makes the form hard
   * to fill in.
   */
  warnings: Type.Array(
    Type.Object({ message: Type.String(), rule: Type.String(), path: Type.Array(Type.Integer()) }),
  ),
};
export const Judgement = namedObject('FormJudgement', judgement);
export type Judgement = Static<typeof Judgement>;

/** What a change would do, without making it. */
export const DryRun = namedObject('DryRun', {
  ...judgement,
  /** What visitors can no longer answer, with the number of stored submissions that answered it. */
  impact: Type.Array(
    Type.Object({
      message: Type.String(),
      change: Type.Enum(['element_removed', 'option_removed', 'row_removed', 'type_changed']),
      element: Type.String(),
      option: Type.Optional(Type.String()),
      row: Type.Optional(Type.String()),
      /** Null if the caller may not read submissions. */
      answers: orNull(Type.Integer()),
    }),
  ),
  /** How many of the newest submissions were scanned; null if the caller may not read them. */
  scanned: orNull(Type.Integer()),
});
export type DryRun = Static<typeof DryRun>;
const dryRun = { dry_run: Type.Optional(DryRun) };

const summary = {
  id: uuidSchema,
  workspace_id: uuidSchema,
  name: Type.String(),
  description: Type.String(),
  status: statusShape,
  labels: Type.Array(Type.String()),
};
const times = { created_at: timestampSchema, updated_at: timestampSchema, published_at: maybeTimestamp };

/** The three shapes of a form. The specification ("Form") says which fields each has. */
export const FormListItem = namedObject('FormSummary', {
  ...summary,
  submission_count: Type.Integer(),
  ...times,
});
export const FormDetail = namedObject('Form', {
  ...summary,
  structure: shownStructure,
  settings: shownSettings,
  submission_count: Type.Integer(),
  ...times,
});
const created = {
  ...summary,
  structure: shownStructure,
  public_url: Type.String({ format: 'uri' }),
  builder_url: Type.String({ format: 'uri' }),
  ...times,
};
export const CreatedForm = namedObject('CreatedForm', created);
/** What became of the parts of a document (import/convert.ts). */
const report = Type.Array(
  Type.Object({
    path: Type.String({ description: 'The path in the document, such as `fields[2].title`.' }),
    title: Type.Optional(
      Type.String({ description: 'The name of the part in the document, or of its nearest named parent.' }),
    ),
    outcome: Type.Enum(['mapped', 'changed', 'left_out']),
    message: Type.String({ description: 'What the part became, or why it was left out.' }),
  }),
  { description: 'The first 1,000 lines. Every part that was left out has a line.' },
);
const reported = { report, report_count: Type.Integer({ description: 'The total number of lines.' }) };
const document = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'The document that another service exported: Typeform, Formbricks, Tally, Google Forms or SurveyJS.',
});
const text = Type.Optional(
  Type.String({
    maxLength: 1_000_000,
    description:
      'The form as plain text, or as CSV whose first line has the questions. Plain text has one question per line, its options below it after `-` or `*`, `# Title` for a step, and `*` after a required question.',
  }),
);
const source = Type.Optional(
  Type.Enum([...formSources], {
    description:
      'The service that the document comes from, or `plain_text` or `csv` for `text`. Detected from the content if omitted.',
  }),
);
export const ForeignForm = strictObject({ document: Type.Optional(document), text, source });
/** A form to import, from Formloom or from another service. */
export const FormToImport = strictObject({
  structure: Type.Optional(anyStructure),
  settings: Type.Optional(anySettings),
  document: Type.Optional(document),
  text,
  source,
});
export const ConvertedForm = namedObject('ConvertedForm', {
  source: Type.Enum([...formSources]),
  structure: anyStructure,
  settings: anySettings,
  ...judgement,
  ...reported,
});
export const ImportedForm = namedObject('ImportedForm', {
  ...created,
  left_out: Type.Array(Type.String(), {
    description: 'The settings whose image does not exist in this workspace.',
  }),
  ...reported,
});
/** A form after a change, or unchanged after a dry run. */
export const ChangedForm = namedObject('ChangedForm', { ...FormDetail.properties, ...dryRun });

const formOrders = ['activity', 'created', 'name', 'submissions'] as const;
export type FormOrder = (typeof formOrders)[number];
export const FormsOverviewQuery = strictObject({
  ...listParameters,
  status: Type.Optional(statusShape),
  label: labelFilter,
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name. Not case-sensitive.' }),
  ),
  sort: Type.Optional(
    Type.Enum([...formOrders], {
      default: 'activity',
      description: 'Sort order. Dates and counts are descending, names ascending.',
    }),
  ),
});
/** A form in the overview, with its activity. */
const FormLine = namedObject('FormActivity', {
  ...summary,
  submission_count: Type.Integer(),
  last_submission_at: maybeTimestamp,
  /** The time of the last change or the last submission, whichever is later. */
  last_activity_at: timestampSchema,
  ...times,
});
export const FormsOverview = listSchemaOf(FormLine);

/** A form to validate, complete or not. */
export const FormToValidate = strictObject({ structure: anyStructure, settings: Type.Optional(anySettings) });
/** A form for Import form: `structure` and `settings`, as Create form accepts them. */
export const ExportedForm = namedObject('ExportedForm', { structure: anyStructure, settings: anySettings });

/** The working copy, with the live version. */
export const Draft = namedObject('Draft', {
  structure: anyStructure,
  settings: anySettings,
  /** The number of saves. 0: never saved, so the copy equals the live version. */
  revision: wholeNumber,
  /** The ETag of the response header. Send it in If-Match to save or publish only this revision. */
  etag: Type.String(),
  /**
   * The live version that the copy is based on. If the form's version differs, the live form was changed in
   * the meantime.
   */
  base_version: wholeNumber,
  saved_at: maybeTimestamp,
  /** Null if it was saved through the API, or never. */
  saved_by: maybeText,
  live: Type.Object({
    version: Type.Integer(),
    structure: structureShape,
    settings: anySettings,
    created_at: timestampSchema,
    /** The person who published it; null if it was published through the API. */
    created_by: maybeText,
  }),
  form: Type.Object({
    ...summary,
    /** The password is write-only and applies immediately. No working copy and no version includes it. */
    has_password: Type.Boolean(),
    submission_count: Type.Integer(),
    public_url: Type.String({ format: 'uri' }),
    ...times,
  }),
});

/** The body of a save. Omitted settings are kept. */
export const DraftSave = strictObject({
  structure: anyStructure,
  settings: Type.Optional(anySettings),
  base_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'The live version that the working copy is based on from now on. Unchanged if omitted.',
    }),
  ),
});
export const DraftSaved = namedObject('SavedDraft', {
  revision: wholeNumber,
  saved_at: maybeTimestamp,
  etag: Type.String(),
  ...dryRun,
});

export const PublishBody = strictObject({
  version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description:
        'The live version that the working copy was compared with. 412 if another version is live.',
    }),
  ),
});

/** The content that the new form starts with instead of the working copy, complete or not. */
export const NewFormCopy = strictObject({
  structure: Type.Optional(anyStructure),
  settings: Type.Optional(anySettings),
});

const version = {
  version: Type.Integer(),
  name: Type.String(),
  created_at: timestampSchema,
  created_by: maybeText,
  is_live: Type.Boolean(),
};
export const VersionList = listSchemaOf(Type.Object(version));
export const VersionDetail = namedObject('FormVersion', {
  ...version,
  structure: structureShape,
  /** Null if the version was created before settings were recorded. */
  settings: orNull(anySettings),
});
export const versionParameters = Type.Object({
  id: uuidSchema,
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});

/** How many of the newest submissions answer each element. `scanned` is the number of submissions scanned. */
export const AnswerCounts = Type.Object({
  scanned: Type.Integer(),
  counts: Type.Record(Type.String(), Type.Integer()),
});

/** A form with one question, for examples of requests. */
export const exampleStructure = {
  type: 'form',
  attrs: { name: 'Contact', description: 'How may we help?' },
  children: [
    {
      type: 'step',
      attrs: { title: 'Your message', layout: 'stack' },
      children: [
        { type: 'textarea', attrs: { id: 'message', label: 'Message', required: true }, children: [] },
      ],
    },
  ],
};
