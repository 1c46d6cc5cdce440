import type { ReactElement } from 'react';
import type { Role, WorkspaceDetail } from '#console/accounts/shapes.ts';
import { TextField } from '../design/field.tsx';
import { Select } from '../design/select.tsx';
import { rolesToGive } from './roles.ts';

/** The address of who is added or invited; the first field of its dialog. */
export function NewMemberEmail(field: {
  value: string;
  error: string | undefined;
  onChange: (email: string) => void;
}): ReactElement {
  return (
    <TextField label="Email address" type="email" inputMode="email" autoComplete="off" autoFocus {...field} />
  );
}

/** The role of who is added or invited: one that the person here may give. */
export function NewMemberRole({
  workspace,
  ...field
}: {
  workspace: WorkspaceDetail;
  value: Role;
  onChange: (role: Role) => void;
}): ReactElement {
  return <Select label="Role" choices={rolesToGive(workspace.role)} {...field} />;
}
