import './recovery-codes.css';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import type { SecondFactors as Factors } from '#workspaces/sign-in/session-shapes.ts';
import { callSessionOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { CopyButton, CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { downloadTextFile } from '../design/files.ts';
import { FieldsDialog, FormDialog } from '../design/form-dialog.tsx';
import { Menu } from '../design/menu.tsx';
import { Message } from '../design/message.tsx';
import { Card } from '../design/page.tsx';
import { QueryState } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import {
  hasTwoFactor,
  PasswordConfirmationField,
  PasswordDialog,
  secondFactorsQuery,
  usePasswordAction,
} from './password-dialog.tsx';
import { canUsePasskeys, makePasskey } from './web-authn.ts';

const QrCode = lazy(async () => ({ default: (await import('../design/qr-code.tsx')).QrCode }));
const qrSize = 184;

type AddProps = {
  /** `codes` is set when these are the first recovery codes. */
  onAdded: (codes: readonly string[] | null) => void;
  onClose: () => void;
};

/**
 * Sets up an authenticator app: asks for the password, shows the QR code, then checks a code from the app.
 */
function AddAppDialog({ onAdded, onClose }: AddProps): ReactElement {
  const start = useAction({
    run: (password: string) => callSessionOperation('startTotp', { body: { password } }),
  });
  const confirm = useAction({
    run: (body: { code: string }) => callSessionOperation('confirmTotp', { body }),
    done: 'You now need a code from your app to sign in.',
    onDone: ({ recovery_codes }) => onAdded(recovery_codes),
  });
  if (!start.data)
    return (
      <PasswordDialog
        title="Set up an authenticator app"
        description="You will enter a code from an app after your password. Use Aegis, 2FAS, Google Authenticator or your password manager."
        label="Continue"
        action={start}
        onSubmit={start.mutate}
        onClose={onClose}
      />
    );
  return (
    <FieldsDialog
      title="Scan this with the app"
      onClose={onClose}
      submitLabel="Add the app"
      action={confirm}
      begin={{ code: '' }}
      fields={{
        code: {
          label: 'Code shown in the app',
          description: 'Six digits. You will be signed out everywhere else.',
          inputMode: 'numeric',
          autoComplete: 'one-time-code',
          autoFocus: true,
        },
      }}
    >
      <Suspense fallback={<div style={{ blockSize: qrSize }} />}>
        <QrCode text={start.data.address} label="QR code for the authenticator app" size={qrSize} />
      </Suspense>
      <CopyField label="Key, if you cannot scan the code" text={start.data.secret} isMultiline isGrouped />
    </FieldsDialog>
  );
}

/** Adds a passkey: asks for a name and the password, then opens the browser's own prompt. */
function AddPasskeyDialog({ onAdded, onClose }: AddProps): ReactElement {
  const { user } = useSession();
  const [given, setGiven] = useState({ name: '', password: '' });
  const add = useAction({
    async run() {
      const request = await callSessionOperation('startPasskey', { body: { password: given.password } });
      const passkey = await makePasskey(request, user);
      return callSessionOperation('addPasskey', { body: { name: given.name, ...passkey } });
    },
    done: 'The passkey was added. You can now sign in with it.',
    onDone: ({ recovery_codes }) => onAdded(recovery_codes),
  });
  return (
    <FormDialog
      title="Add a passkey"
      description="Sign in with your fingerprint, face or PIN instead of a password. A passkey does not work on fake copies of this page."
      onClose={onClose}
      action={add}
      onSubmit={add.mutate}
      submitLabel="Continue"
    >
      <TextField
        label="Passkey name"
        description="Helps you recognize it, such as “My laptop”."
        autoFocus
        isRequired
        value={given.name}
        onChange={(name) => setGiven({ ...given, name })}
        error={add.of('name')}
      />
      <PasswordConfirmationField
        value={given.password}
        onChange={(password) => setGiven({ ...given, password })}
        error={add.of('password')}
      />
    </FormDialog>
  );
}

type Passkey = Factors['passkeys'][number];

/** Renames a passkey. */
function NamePasskeyDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }): ReactElement {
  const rename = useAction({
    run: (body: { name: string }) =>
      callSessionOperation('renamePasskey', { params: { id: passkey.id }, body }),
    done: 'The passkey was renamed.',
    onDone: onClose,
  });
  return (
    <FieldsDialog
      title={`Rename ${passkey.name}`}
      onClose={onClose}
      submitLabel="Rename"
      action={rename}
      begin={{ name: passkey.name }}
      fields={{ name: { label: 'Passkey name', autoFocus: true } }}
    />
  );
}

/** Shows new recovery codes. They are shown only once. */
function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose: () => void;
}): ReactElement {
  const { user } = useSession();
  const text = codes.join('\n');
  const file = `Recovery codes of ${user.email} for ${location.host}. Each code works once.\n\n${text}\n`;
  return (
    <Dialog title="Save your recovery codes" onClose={onClose} isDismissable={false} done="I have saved them">
      <div className="stack">
        <Message tone="warn">These codes are shown only once.</Message>
        <p>
          If you lose your phone, sign in with one of these codes instead. Each code works once. Keep them on
          paper or in a password manager, not only on your phone.
        </p>
        <ol className="recovery-codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <div className="row">
          <Button
            icon="download"
            onPress={() => downloadTextFile('formloom-recovery-codes.txt', file, 'text/plain')}
          >
            Download
          </Button>
          <CopyButton text={text} of="recovery codes" />
        </div>
      </div>
    </Dialog>
  );
}

type Open = 'add app' | 'add passkey' | { passkey: Passkey } | { codes: readonly string[] };

/** Lists the passkeys and two-factor methods of the person, and their recovery codes. */
export function SecondFactorCard(): ReactElement {
  const { data } = useQuery(secondFactorsQuery);
  return (
    <Card
      title="Two-factor authentication"
      lead="Your password alone is not enough to sign in to your account."
      actions={
        data && <Chip tone={hasTwoFactor(data) ? 'good' : 'plain'}>{hasTwoFactor(data) ? 'On' : 'Off'}</Chip>
      }
    >
      <SecondFactorList />
    </Card>
  );
}

/** The list of two-factor methods with buttons to change them, without a card. */
export function SecondFactorList(): ReactElement {
  const factors = useQuery(secondFactorsQuery);
  return (
    <QueryState query={factors} lines={2} showsError>
      {(data) => <FactorList factors={data} />}
    </QueryState>
  );
}

function FactorList({ factors }: { factors: Factors }): ReactElement {
  const { totp_since, passkeys, recovery_codes_left } = factors;
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const added = (codes: readonly string[] | null): void => setOpen(codes ? { codes } : undefined);
  const removeApp = usePasswordAction({
    ask: () => ({
      title: 'Remove the authenticator app?',
      description:
        passkeys.length === 0
          ? 'You will sign in with your password only, and you will be signed out everywhere else.'
          : 'Your passkeys are kept.',
      label: 'Remove app',
      isDanger: true,
    }),
    run: (password) => callSessionOperation('removeTotp', { body: { password } }),
    done: () => 'The authenticator app was removed.',
  });
  const removePasskey = usePasswordAction({
    ask: ({ name }: Passkey) => ({
      title: `Remove ${name}?`,
      description: 'You can no longer sign in with it. It stays on your device until you delete it there.',
      label: 'Remove passkey',
      isDanger: true,
    }),
    run: (password, { id }) => callSessionOperation('removePasskey', { params: { id }, body: { password } }),
    done: () => 'The passkey was removed.',
  });
  const renew = usePasswordAction({
    ask: () => ({
      title: 'Get new recovery codes?',
      description: 'Your old recovery codes will stop working.',
      label: 'Get new codes',
    }),
    run: (password) => callSessionOperation('renewRecoveryCodes', { body: { password } }),
    done: () => 'Your old recovery codes no longer work.',
    onDone: ({ recovery_codes }) => added(recovery_codes),
  });
  return (
    <>
      <Way
        name="Authenticator app"
        note={
          totp_since !== null && (
            <>
              Added <Ago at={totp_since} />
            </>
          )
        }
      >
        {totp_since === null ? (
          <Button onPress={() => setOpen('add app')}>Set up</Button>
        ) : (
          <Button onPress={() => removeApp.start()}>Remove app</Button>
        )}
      </Way>
      {passkeys.map((passkey) => (
        <Way
          key={passkey.id}
          name={`Passkey: ${passkey.name}`}
          note={
            <>
              {passkey.last_used_at === null ? 'Added ' : 'Used '}
              <Ago at={passkey.last_used_at ?? passkey.created_at} />
            </>
          }
        >
          <Menu
            items={[
              { id: 'name', label: 'Rename', icon: 'edit', onAction: () => setOpen({ passkey }) },
              {
                id: 'remove',
                label: 'Remove',
                icon: 'remove',
                isDanger: true,
                onAction: () => removePasskey.start(passkey),
              },
            ]}
          >
            <IconButton icon="more" label={`Actions for ${passkey.name}`} />
          </Menu>
        </Way>
      ))}
      {canUsePasskeys() && (
        <Way name={passkeys.length > 0 ? 'Another passkey' : 'Passkey'}>
          <Button onPress={() => setOpen('add passkey')}>Add passkey</Button>
        </Way>
      )}
      {hasTwoFactor(factors) && (
        <Way name="Recovery codes" note={`${recovery_codes_left} left`}>
          <Button onPress={() => renew.start()}>Get new codes</Button>
        </Way>
      )}
      {removeApp.dialog}
      {removePasskey.dialog}
      {renew.dialog}
      {open === 'add app' && <AddAppDialog onAdded={added} onClose={close} />}
      {open === 'add passkey' && <AddPasskeyDialog onAdded={added} onClose={close} />}
      {typeof open === 'object' &&
        ('codes' in open ? (
          <RecoveryCodesDialog codes={open.codes} onClose={close} />
        ) : (
          <NamePasskeyDialog passkey={open.passkey} onClose={close} />
        ))}
    </>
  );
}

type WayProps = { name: string; note?: ReactNode; children: ReactNode };

function Way({ name, note, children }: WayProps): ReactElement {
  return (
    <div className="spread">
      <div>
        <strong>{name}</strong>
        {note && <div className="soft small">{note}</div>}
      </div>
      {children}
    </div>
  );
}
