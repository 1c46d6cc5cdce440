import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { callOwn } from '../../api/operations.ts';
import { CopyField } from '../../design/copy-button.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';

const QrCode = lazy(async () => ({ default: (await import('../../design/qr-code.tsx')).QrCode }));
const qrSize = 184;

/** Sets an authenticator app up: the password, the QR code, and a code of the app that shows that it works. */
export function AddAppDialog({
  onAdded,
  onClose,
}: {
  /** With recovery codes, where these are the first. */
  onAdded: (codes: readonly string[] | null) => Promise<void>;
  onClose: () => void;
}): ReactElement {
  const [code, setCode] = useState('');
  const start = useMutation({
    mutationFn: (password: string) => callOwn('startTotp', { body: { password } }),
  });
  const confirm = useMutation({
    mutationFn: () => callOwn('confirmTotp', { body: { code } }),
    onSuccess: ({ recovery_codes }) => onAdded(recovery_codes),
  });
  if (!start.data)
    return (
      <PasswordDialog
        title="Set up an authenticator app"
        description="An app on your phone, such as Aegis, 2FAS, Google Authenticator or your password manager, shows a code that you type after your password."
        submitLabel="Continue"
        asked={start}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="Scan this with the app"
      isOpen
      onClose={onClose}
      onSubmit={() => confirm.mutate()}
      submitLabel="Add the app"
      isPending={confirm.isPending}
      error={unlocatedProblem(confirm.error)}
    >
      <Suspense fallback={<div style={{ blockSize: qrSize }} />}>
        <QrCode text={start.data.address} label="QR code for the authenticator app" size={qrSize} />
      </Suspense>
      <CopyField label="Or type this into the app" text={start.data.secret} isMultiline isGrouped />
      <TextField
        label="Code that the app shows"
        description="Six digits. You are signed out everywhere else."
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        value={code}
        onChange={setCode}
        error={confirm.error instanceof ApiProblem ? confirm.error.of('code') : undefined}
      />
    </FormDialog>
  );
}
