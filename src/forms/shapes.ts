import { type Static, Type } from 'typebox';
import { type ProblemCode, problemCodes } from '#ast/basics/problem-codes.ts';
import type { Settings } from '#ast/settings.ts';
import { listOf, listParameters, named } from '#kit/pagination.ts';
import { closed, timestamp, uuid } from '#kit/validation.ts';
import { formSources } from './import/convert.ts';
import { formStatuses } from './live-form.ts';

const maybeTimestamp = Type.Union([timestamp, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);

export const statusShape = Type.Enum([...formStatuses], {
  description: 'Only published forms accept submissions.',
});
/** A form as a tree, valid. It is checked by its own walker. */
export const structureShape = Type.Unsafe<object>({
  'x-component': 'Structure',
  description: 'The form as a tree. Every problem is reported at once, with the path of its node.',
});
/** All settings, as they are sent; checked by their own rules (ast/settings.ts). */
export const settingsShape = Type.Unsafe<object>({
  'x-component': 'SettingsChange',
  description:
    'Replaces all settings but the password. `notification_email` and `notifications` take the permission submissions:read too.',
});
const shownStructure = Type.Unsafe<object>({ 'x-component': 'Structure' });
const shownSettings = Type.Unsafe<object>({ 'x-component': 'Settings' });
/** What is being made, and so may be incomplete. */
const anyStructure = Type.Unsafe<object>({
  type: 'object',
  description: 'A form as a tree, complete or not.',
});
/** All but the password; those of a working copy may be incomplete, as its structure may. */
const anySettings = Type.Unsafe<Settings>({ type: 'object', description: 'Settings, complete or not.' });
const wholeNumber = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** `true`: nothing is stored, and `dry_run` says what would be. */
export const dryRunParameter = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Stores nothing; `dry_run` of the answer says what stands in the way, and what would be touched.',
      }),
    ),
  },
  closed,
);

/** What is wrong with a form, and what is not as good as it could be. */
const judgement = {
  /** Each stands in the way of storing the form. By `path` in the structure, or by the `field` of a setting. */
  problems: Type.Array(
    Type.Object({
      message: Type.String(),
      code: Type.Enum(Object.keys(problemCodes) as ProblemCode[]),
      field: Type.Optional(Type.String()),
      path: Type.Optional(Type.Array(Type.Integer())),
    }),
  ),
  /** Names that look misspelt and empty composites; without problems also what makes the form hard to fill in. */
  warnings: Type.Array(
    Type.Object({ message: Type.String(), rule: Type.String(), path: Type.Array(Type.Integer()) }),
  ),
};
export const Judgement = named('FormJudgement', Type.Object(judgement));
export type Judgement = Static<typeof Judgement>;

/** What a change would do, of one that was not made. */
export const DryRun = named(
  'DryRun',
  Type.Object({
    ...judgement,
    /** What visitors could answer and cannot any more, with the stored submissions that did. */
    impact: Type.Array(
      Type.Object({
        message: Type.String(),
        change: Type.Enum(['element_removed', 'option_removed', 'row_removed', 'type_changed']),
        element: Type.String(),
        option: Type.Optional(Type.String()),
        /** Of a matrix. */
        row: Type.Optional(Type.String()),
        /** Null: the caller may not read submissions. */
        answers: Type.Union([Type.Integer(), Type.Null()]),
      }),
    ),
    /** How many submissions were looked at, the newest first; null: the caller may not read them. */
    scanned: Type.Union([Type.Integer(), Type.Null()]),
  }),
);
export type DryRun = Static<typeof DryRun>;
const dryRun = { dry_run: Type.Optional(DryRun) };

const summary = {
  id: uuid,
  workspace_id: uuid,
  name: Type.String(),
  description: Type.String(),
  status: statusShape,
};
const times = { created_at: timestamp, updated_at: timestamp, published_at: maybeTimestamp };

/** The three shapes of a form. Specification, "Form": which fields are where. */
export const FormListItem = named(
  'FormSummary',
  Type.Object({ ...summary, submission_count: Type.Integer(), ...times }),
);
export const FormDetail = named(
  'Form',
  Type.Object({
    ...summary,
    structure: shownStructure,
    settings: shownSettings,
    submission_count: Type.Integer(),
    ...times,
  }),
);
const created = {
  ...summary,
  structure: shownStructure,
  public_url: Type.String({ format: 'uri' }),
  builder_url: Type.String({ format: 'uri' }),
  ...times,
};
export const CreatedForm = named('CreatedForm', Type.Object(created));
/** What became of the parts of a document (import/convert.ts). */
const report = Type.Array(
  Type.Object({
    path: Type.String({ description: 'The path in the document, such as `fields[2].title`.' }),
    title: Type.Optional(
      Type.String({
        description: 'The name of the part in the document, or of the nearest named part around it.',
      }),
    ),
    outcome: Type.Enum(['mapped', 'changed', 'left_out']),
    message: Type.String({ description: 'What the part became, or why it was left out.' }),
  }),
  { description: 'The first 1,000 lines. Every part that was left out has a line.' },
);
const reported = { report, report_count: Type.Integer({ description: 'The number of lines in all.' }) };
const document = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'The document that another service exported: Typeform, Formbricks, Tally, Google Forms or SurveyJS.',
});
const source = Type.Optional(
  Type.Enum([...formSources], {
    description: 'The service that the document comes from. Recognised from the content if omitted.',
  }),
);
export const ForeignForm = Type.Object({ document, source }, closed);
/** A form to import: one of ours, or one of another service. */
export const FormToImport = Type.Object(
  {
    structure: Type.Optional(anyStructure),
    settings: Type.Optional(anySettings),
    document: Type.Optional(document),
    source,
  },
  closed,
);
export const ConvertedForm = named(
  'ConvertedForm',
  Type.Object({
    source: Type.Enum([...formSources]),
    structure: anyStructure,
    settings: anySettings,
    ...judgement,
    ...reported,
  }),
);
export const ImportedForm = named(
  'ImportedForm',
  Type.Object({
    ...created,
    left_out: Type.Array(Type.String(), {
      description: 'The settings that name an image which is not here.',
    }),
    ...reported,
  }),
);
/** A form after a change; as it was, when the change was a dry run. */
export const ChangedForm = named('ChangedForm', Type.Object({ ...FormDetail.properties, ...dryRun }));

const formOrders = ['activity', 'created', 'name', 'submissions'] as const;
export type FormOrder = (typeof formOrders)[number];
export const OverviewQuery = Type.Object(
  {
    ...listParameters,
    status: Type.Optional(statusShape),
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name, in any case.' }),
    ),
    sort: Type.Optional(
      Type.Enum([...formOrders], { default: 'activity', description: 'By what, latest or most first.' }),
    ),
  },
  closed,
);
/** One line of the overview: a form with what happened to it. */
const FormLine = named(
  'FormActivity',
  Type.Object({
    ...summary,
    submission_count: Type.Integer(),
    last_submission_at: maybeTimestamp,
    /** The later of its last change and its last submission. */
    last_activity_at: timestamp,
    ...times,
  }),
);
export const Overview = listOf(FormLine);

/** A form as it is looked at or taken in, complete or not. */
export const FormDocument = Type.Object(
  { structure: anyStructure, settings: Type.Optional(anySettings) },
  closed,
);
/** What is handed from one instance to another: `structure` and `settings`, as Create form takes them. */
export const ExportedForm = named(
  'ExportedForm',
  Type.Object({ structure: anyStructure, settings: anySettings }),
);

/** The working copy, beside what is live. */
export const Draft = named(
  'Draft',
  Type.Object({
    structure: anyStructure,
    settings: anySettings,
    /** How often it was saved; 0: never, and it is what is live. */
    revision: wholeNumber,
    /** As in the header: what If-Match takes, to save or publish nothing but this. */
    etag: Type.String(),
    /** The live version that it rests on; when the form's is another, live was changed beside it. */
    base_version: wholeNumber,
    saved_at: maybeTimestamp,
    /** Null: over the API, or nobody. */
    saved_by: maybeText,
    live: Type.Object({
      version: Type.Integer(),
      structure: structureShape,
      settings: anySettings,
      created_at: timestamp,
      /** The person who published it; null for the API. */
      created_by: maybeText,
    }),
    form: Type.Object({
      ...summary,
      /** The password itself is only ever written, and holds at once: it is part of no working copy and no version. */
      has_password: Type.Boolean(),
      submission_count: Type.Integer(),
      public_url: Type.String({ format: 'uri' }),
      ...times,
    }),
  }),
);

/** What a save sends. Settings that it leaves out stay. */
export const DraftSave = Type.Object(
  {
    structure: anyStructure,
    settings: Type.Optional(anySettings),
    base_version: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description: 'The live version that it rests on from now on; as it was, when left out.',
      }),
    ),
  },
  closed,
);
export const DraftSaved = named(
  'SavedDraft',
  Type.Object({
    revision: wholeNumber,
    saved_at: maybeTimestamp,
    etag: Type.String(),
    ...dryRun,
  }),
);

export const Publication = Type.Object(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description:
          'The live version that the working copy was compared with; is another one live by now: 412.',
      }),
    ),
  },
  closed,
);

/** What a copy begins with instead of the working copy, complete or not. */
export const NewCopy = Type.Object(
  { structure: Type.Optional(anyStructure), settings: Type.Optional(anySettings) },
  closed,
);

const version = {
  version: Type.Integer(),
  name: Type.String(),
  created_at: timestamp,
  created_by: maybeText,
  is_live: Type.Boolean(),
};
export const VersionList = listOf(Type.Object(version));
export const VersionDetail = named(
  'FormVersion',
  Type.Object({
    ...version,
    structure: structureShape,
    /** Null: the version is older than the recording of settings. */
    settings: Type.Union([anySettings, Type.Null()]),
  }),
);
export const versionParameters = Type.Object({
  id: uuid,
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});

/** How many of the newest submissions answer each element; `scanned` of them were looked at. */
export const AnswerCounts = Type.Object({
  scanned: Type.Integer(),
  counts: Type.Record(Type.String(), Type.Integer()),
});

/** A form that asks one question, in the examples of requests. */
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
