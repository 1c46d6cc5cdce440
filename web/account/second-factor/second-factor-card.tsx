import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import type { SecondFactors as Factors } from '#console/accounts/shapes.ts';
import { callOwn } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Menu } from '../../design/menu.tsx';
import { Card } from '../../design/page.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Ago } from '../../design/time.tsx';
import { toastDone } from '../../design/toast.tsx';
import { AddAppDialog } from './add-app-dialog.tsx';
import { NamePasskeyDialog } from './name-passkey-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { hasFactor, secondFactorsQuery } from './second-factors.ts';
import { hasPasskeys, makePasskey } from './web-authn.ts';
import './recovery-codes.css';
import { CopyButton } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { saveFile } from '../../design/save-file.ts';
import { useSession } from '../../shell/session.ts';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { OwnPassword } from './own-password.tsx';

/** Adds a passkey: a name for it and the password, and then what the browser asks. */
function AddPasskeyDialog({
  onAdded,
  onClose,
}: {
  /** With recovery codes, where these are the first. */
  onAdded: (codes: readonly string[] | null) => Promise<void>;
  onClose: () => void;
}): ReactElement {
  const { user } = useSession();
  const [given, setGiven] = useState({ name: '', password: '' });
  const add = useMutation({
    async mutationFn() {
      const request = await callOwn('startPasskey', { body: { password: given.password } });
      const made = await makePasskey(request, user);
      return callOwn('addPasskey', { body: { name: given.name, ...made } });
    },
    onSuccess: ({ recovery_codes }) => onAdded(recovery_codes),
  });
  const problem = add.error instanceof ApiProblem ? add.error : undefined;
  return (
    <FormDialog
      title="Add a passkey"
      description="It signs you in by your finger, face or PIN, without a password, and cannot be given away to a copy of this page."
      isOpen
      onClose={onClose}
      onSubmit={() => add.mutate()}
      submitLabel="Continue"
      isPending={add.isPending}
      error={unlocatedProblem(add.error)}
    >
      <TextField
        label="Name of the passkey"
        description="What you recognise it by, such as “My laptop”."
        autoComplete="off"
        autoFocus
        isRequired
        value={given.name}
        onChange={(name) => setGiven({ ...given, name })}
        error={problem?.of('name')}
      />
      <OwnPassword
        value={given.password}
        onChange={(password) => setGiven({ ...given, password })}
        error={problem?.of('password')}
      />
    </FormDialog>
  );
}

/** Recovery codes, shown this once. */
function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose: () => void;
}): ReactElement {
  const { user } = useSession();
  const text = codes.join('\n');
  const file = `Recovery codes of ${user.email} for ${location.host}. Each signs in once.\n\n${text}\n`;
  return (
    <Dialog
      title="Keep your recovery codes"
      isOpen
      onClose={onClose}
      isDismissable={false}
      done="I have kept them"
    >
      <div className="stack">
        <Message tone="warn">They are shown only this once.</Message>
        <p>
          When your phone is lost, one of these takes the second step in its place. Each works once. Keep them
          where you find them without it: on paper, or in a password manager.
        </p>
        <ol className="recovery-codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <div className="row">
          <Button icon="download" onPress={() => saveFile('formloom-recovery-codes.txt', file, 'text/plain')}>
            Download
          </Button>
          <CopyButton text={text} />
        </div>
      </div>
    </Dialog>
  );
}

type Passkey = Factors['passkeys'][number];
type Open =
  | { what: 'add app' | 'remove app' | 'add passkey' | 'renew codes' }
  | { what: 'name passkey' | 'remove passkey'; passkey: Passkey }
  | { what: 'codes'; codes: readonly string[] };

/** What the person signs in with beside the password, and how they get back in without it. */
export function SecondFactorCard(): ReactElement {
  const { data } = useQuery(secondFactorsQuery);
  return (
    <Card
      title="Second step"
      lead="Whoever learns your password cannot sign in with it alone."
      actions={
        data && <Chip tone={hasFactor(data) ? 'good' : 'plain'}>{hasFactor(data) ? 'On' : 'Off'}</Chip>
      }
    >
      <SecondFactors />
    </Card>
  );
}

/** The same without a card: what there is, and the ways to change it. */
export function SecondFactors(): ReactElement {
  const factors = useQuery(secondFactorsQuery);
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const changed = async (said: string, codes: readonly string[] | null = null): Promise<void> => {
    await queryClient.invalidateQueries(secondFactorsQuery);
    setOpen(codes ? { what: 'codes', codes } : undefined);
    toastDone(said);
  };
  const removeApp = useMutation({
    mutationFn: (password: string) => callOwn('removeTotp', { body: { password } }),
    onSuccess: () => changed('The authenticator app was removed.'),
  });
  const removing = open?.what === 'remove passkey' ? open.passkey : undefined;
  const removePasskey = useMutation({
    mutationFn: (password: string) =>
      callOwn('removePasskey', { params: { id: removing!.id }, body: { password } }),
    onSuccess: () => changed('The passkey was removed.'),
  });
  const renew = useMutation({
    mutationFn: (password: string) => callOwn('renewRecoveryCodes', { body: { password } }),
    onSuccess: ({ recovery_codes }) => changed('The former recovery codes have ended.', recovery_codes),
  });
  const hasOne = factors.data !== undefined && hasFactor(factors.data);
  return (
    <>
      {factors.isPending && <Loading lines={2} />}
      {factors.error && <ErrorState error={factors.error} onRetry={() => void factors.refetch()} />}
      {factors.data && (
        <>
          <Way
            name="Authenticator app"
            note={
              factors.data.totp_since !== null && (
                <>
                  Added <Ago at={factors.data.totp_since} />
                </>
              )
            }
          >
            {factors.data.totp_since === null ? (
              <Button onPress={() => setOpen({ what: 'add app' })}>Set up</Button>
            ) : (
              <Button onPress={() => setOpen({ what: 'remove app' })}>Remove app</Button>
            )}
          </Way>
          {factors.data.passkeys.map((passkey) => (
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
                  {
                    id: 'name',
                    label: 'Rename',
                    icon: 'edit',
                    onAction: () => setOpen({ what: 'name passkey', passkey }),
                  },
                  {
                    id: 'remove',
                    label: 'Remove',
                    icon: 'remove',
                    isDanger: true,
                    onAction: () => setOpen({ what: 'remove passkey', passkey }),
                  },
                ]}
              >
                <IconButton icon="more" label={`Actions for ${passkey.name}`} />
              </Menu>
            </Way>
          ))}
          {hasPasskeys() && (
            <Way name={factors.data.passkeys.length > 0 ? 'Another passkey' : 'Passkey'}>
              <Button onPress={() => setOpen({ what: 'add passkey' })}>Add passkey</Button>
            </Way>
          )}
          {hasOne && (
            <Way name="Recovery codes" note={`${factors.data.recovery_codes_left} left`}>
              <Button onPress={() => setOpen({ what: 'renew codes' })}>Get new ones</Button>
            </Way>
          )}
        </>
      )}
      {open?.what === 'add app' && (
        <AddAppDialog
          onAdded={(codes) => changed('A code of your app is asked for from now on.', codes)}
          onClose={close}
        />
      )}
      {open?.what === 'remove app' && (
        <PasswordDialog
          title="Remove the authenticator app?"
          description={
            factors.data?.passkeys.length === 0
              ? 'Your password alone signs you in then. You are signed out everywhere else.'
              : 'Your passkeys stay.'
          }
          submitLabel="Remove app"
          isDanger
          asked={removeApp}
          onClose={close}
        />
      )}
      {open?.what === 'renew codes' && (
        <PasswordDialog
          title="Get new recovery codes?"
          description="Those that you kept before work no more."
          submitLabel="Get new ones"
          asked={renew}
          onClose={close}
        />
      )}
      {open?.what === 'add passkey' && (
        <AddPasskeyDialog
          onAdded={(codes) => changed('The passkey was added. It signs you in from now on.', codes)}
          onClose={close}
        />
      )}
      {open?.what === 'name passkey' && (
        <NamePasskeyDialog
          passkey={open.passkey}
          onNamed={() => changed('The passkey was renamed.')}
          onClose={close}
        />
      )}
      {removing && (
        <PasswordDialog
          title={`Remove ${removing.name}?`}
          description="It signs you in no more. On the device it stays until you delete it there."
          submitLabel="Remove passkey"
          isDanger
          asked={removePasskey}
          onClose={close}
        />
      )}
      {open?.what === 'codes' && <RecoveryCodesDialog codes={open.codes} onClose={close} />}
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
