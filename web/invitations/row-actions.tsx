import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { IconButton } from '../design/button.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../design/dialog.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { act, type FormPlace, type InvitationRow } from './invitations-query.ts';

type Props = { form: FormPlace; row: InvitationRow; canMail: boolean };

/** What is done with one invitation. */
export function RowActions({ form, row, canMail }: Props): ReactElement | null {
  const [shown, setShown] = useState<'link' | 'revoke'>();
  const close = (): void => setShown(undefined);
  const resend = useMutation({
    mutationFn: () => act(form, row.id, 'resendInvitation'),
    onSuccess: () => toastDone(`The invitation of ${row.email} will be mailed.`),
    onError: toastProblem,
  });
  const revoke = useMutation({
    mutationFn: () => act(form, row.id, 'revokeInvitation'),
    onSuccess() {
      close();
      toastDone(`The link of ${row.email} leads nowhere any more.`);
    },
  });
  if (row.status === 'completed' || row.status === 'revoked') return null;
  const items: MenuAction[] = [
    { id: 'link', label: 'Personal link', icon: 'link', onAction: () => setShown('link') },
    ...(canMail
      ? [
          {
            id: 'resend',
            label: row.status === 'pending' ? 'Send' : 'Send again',
            icon: 'send' as const,
            isDisabled: row.is_unsubscribed,
            onAction: () => resend.mutate(),
          },
        ]
      : []),
    { id: 'revoke', label: 'Revoke', icon: 'remove', isDanger: true, onAction: () => setShown('revoke') },
  ];
  return (
    <>
      <Menu items={items}>
        <IconButton icon="more" label={`Invitation of ${row.email}`} size="small" />
      </Menu>
      <Dialog
        title="Personal link"
        description={`Whoever has this link can answer in the name of ${row.name || row.email}, once.`}
        isOpen={shown === 'link'}
        onClose={close}
        size="medium"
      >
        <CopyField label="Link" text={row.url ?? ''} />
      </Dialog>
      <ConfirmDialog
        title="Revoke this invitation?"
        isOpen={shown === 'revoke'}
        onClose={close}
        confirmLabel="Revoke"
        isPending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate()}
      >
        <p>The link of {row.email} will lead nowhere. You can invite the same address anew.</p>
      </ConfirmDialog>
    </>
  );
}
