import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { assignableRoles, type Role } from '#rules/permissions.ts';
import type { WorkspaceDetail } from '../workspace.ts';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Select } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import { refreshInvitations } from './invitations-query.ts';
import { LinkDialog } from './link-dialog.tsx';

type Props = { workspace: WorkspaceDetail; isOpen: boolean; onClose: () => void };

/** Asks somebody by mail to join the workspace. */
export function InviteDialog({ workspace, isOpen, onClose }: Props): ReactElement {
  const [given, setGiven] = useState<{ email: string; role: Role }>({ email: '', role: 'editor' });
  const invite = useMutation({
    mutationFn: () => call(workspace.id, 'inviteMember', { body: given }),
    async onSuccess({ link }) {
      await refreshInvitations(workspace.id);
      if (link !== null) return;
      toastDone(`${given.email} was invited.`);
      close();
    },
  });
  const close = (): void => {
    setGiven({ email: '', role: 'editor' });
    invite.reset();
    onClose();
  };
  if (invite.data?.link) return <LinkDialog email={given.email} link={invite.data.link} onClose={close} />;
  const problem = invite.error instanceof ApiProblem ? invite.error : undefined;
  return (
    <FormDialog
      title="Invite a member"
      description="They get a link to join, with their account or a new one. It is open for 7 days."
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => invite.mutate()}
      submitLabel="Invite"
      isPending={invite.isPending}
      error={unlocatedProblem(invite.error)}
    >
      <TextField
        label="Email address"
        type="text"
        inputMode="email"
        autoComplete="off"
        autoFocus
        value={given.email}
        error={problem?.of('email')}
        onChange={(email) => setGiven({ ...given, email })}
      />
      <Select
        label="Role"
        choices={assignableRoles(workspace.role)}
        value={given.role}
        onChange={(role) => setGiven({ ...given, role })}
      />
    </FormDialog>
  );
}
