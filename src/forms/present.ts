import { Type } from 'typebox';
import { named } from '#kit/named.ts';
import { type FormStatus, formStatuses } from './queries.ts';

/** Where a form's pages are. docs/rules.md 18. */
export type FormAddresses = { publicUrl: string };
export const publicUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/f/${formId}`;
const builderUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/app/forms/${formId}`;

const timestamp = Type.String({ format: 'date-time' });
const summaryShape = {
  id: Type.String({ format: 'uuid' }),
  workspace_id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  description: Type.String(),
  status: Type.Enum([...formStatuses]),
};
const timeShape = {
  created_at: timestamp,
  updated_at: timestamp,
  published_at: Type.Union([timestamp, Type.Null()]),
};
const structureShape = Type.Unsafe<object>({ 'x-component': 'Structure' });

/** The three shapes of a form. Specification, "Form": which fields are where. */
export const FormListItem = named(
  'FormSummary',
  Type.Object({ ...summaryShape, submission_count: Type.Integer(), ...timeShape }),
);
export const FormDetail = named(
  'Form',
  Type.Object({
    ...summaryShape,
    structure: structureShape,
    settings: Type.Unsafe<object>({ 'x-component': 'Settings' }),
    submission_count: Type.Integer(),
    ...timeShape,
  }),
);
export const CreatedForm = named(
  'CreatedForm',
  Type.Object({
    ...summaryShape,
    structure: structureShape,
    public_url: Type.String({ format: 'uri' }),
    builder_url: Type.String({ format: 'uri' }),
    ...timeShape,
  }),
);

type FormRow = {
  id: string;
  workspace_id: string;
  name: string;
  description: string;
  status: FormStatus;
  created_at: Date;
  updated_at: Date;
  published_at: Date | null;
};

const summary = ({ id, workspace_id, name, description, status }: FormRow) => ({
  id,
  workspace_id,
  name,
  description,
  status,
});
const times = ({ created_at, updated_at, published_at }: FormRow) => ({
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
  published_at: published_at && published_at.toISOString(),
});

export const presentListItem = (row: FormRow & { submission_count: number }) => ({
  ...summary(row),
  submission_count: row.submission_count,
  ...times(row),
});

export const presentForm = (
  row: FormRow & { structure: object; settings: object; submission_count: number },
) => ({
  ...summary(row),
  structure: row.structure,
  settings: row.settings,
  submission_count: row.submission_count,
  ...times(row),
});

export const presentCreated = (row: FormRow, structure: object, addresses: FormAddresses) => ({
  ...summary(row),
  structure,
  public_url: publicUrlOf(addresses, row.id),
  builder_url: builderUrlOf(addresses, row.id),
  ...times(row),
});
