import { fillNodes } from '#ast/effective-form.ts';

/** Specification, "Form status". */
export type FormStatus = 'draft' | 'published' | 'archived';

/** Where a form's pages are. docs/rules.md 18. */
export type FormAddresses = { publicUrl: string };
export const publicUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/f/${formId}`;
const builderUrlOf = ({ publicUrl }: FormAddresses, formId: string): string =>
  `${publicUrl}/app/forms/${formId}`;

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

/** As Get form shows it: `settings.access` says what holds, also where nobody set it (specification, "Form"). */
export const presentForm = (
  row: FormRow & { structure: object; settings: object; submission_count: number },
) => ({
  ...summary(row),
  structure: row.structure,
  settings: { access: 'public', ...row.settings },
  submission_count: row.submission_count,
  ...times(row),
});

export const presentCreated = (row: FormRow, structure: object, addresses: FormAddresses) => ({
  ...summary(row),
  structure: fillNodes(structure) as object,
  public_url: publicUrlOf(addresses, row.id),
  builder_url: builderUrlOf(addresses, row.id),
  ...times(row),
});
