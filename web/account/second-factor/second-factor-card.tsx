import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { callOwn } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Card } from '../../design/page.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Ago } from '../../design/time.tsx';
import { toastDone } from '../../design/toast.tsx';
import { AddAppDialog } from './add-app-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { RecoveryCodesDialog } from './recovery-codes.tsx';
import { secondFactorsQuery } from './second-factors.ts';

type Open = 'add app' | 'remove app' | 'renew codes' | { codes: readonly string[] };

/** What the person signs in with beside the password, and how they get back in without it. */
export function SecondFactorCard(): ReactElement {
  const factors = useQuery(secondFactorsQuery);
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const changed = async (said: string, codes: readonly string[] | null = null): Promise<void> => {
    await queryClient.invalidateQueries(secondFactorsQuery);
    setOpen(codes ? { codes } : undefined);
    toastDone(said);
  };
  const removeApp = useMutation({
    mutationFn: (password: string) => callOwn('removeTotp', { body: { password } }),
    onSuccess: () => changed('The authenticator app was removed.'),
  });
  const renew = useMutation({
    mutationFn: (password: string) => callOwn('renewRecoveryCodes', { body: { password } }),
    onSuccess: ({ recovery_codes }) => changed('The former recovery codes have ended.', recovery_codes),
  });
  const hasOne = factors.data !== undefined && factors.data.totp_since !== null;
  return (
    <Card
      title="Second step"
      lead="Whoever learns your password cannot sign in with it alone."
      actions={factors.data && <Chip tone={hasOne ? 'good' : 'plain'}>{hasOne ? 'On' : 'Off'}</Chip>}
    >
      {factors.isPending && <Loading lines={2} />}
      {factors.error && <ErrorState error={factors.error} onRetry={() => void factors.refetch()} />}
      {factors.data && (
        <>
          <Way name="Authenticator app">
            {factors.data.totp_since === null ? (
              <Button onPress={() => setOpen('add app')}>Set up</Button>
            ) : (
              <>
                <span className="soft small">
                  Added <Ago at={factors.data.totp_since} />
                </span>
                <Button onPress={() => setOpen('remove app')}>Remove app</Button>
              </>
            )}
          </Way>
          {hasOne && (
            <Way name="Recovery codes">
              <span className="soft small">{factors.data.recovery_codes_left} left</span>
              <Button onPress={() => setOpen('renew codes')}>Get new ones</Button>
            </Way>
          )}
        </>
      )}
      {open === 'add app' && (
        <AddAppDialog
          onAdded={(codes) => changed('A code of your app is asked for from now on.', codes)}
          onClose={close}
        />
      )}
      {open === 'remove app' && (
        <PasswordDialog
          title="Remove the authenticator app?"
          description="Your password alone signs you in then. You are signed out everywhere else."
          submitLabel="Remove app"
          asked={removeApp}
          onClose={close}
        />
      )}
      {open === 'renew codes' && (
        <PasswordDialog
          title="Get new recovery codes?"
          description="Those that you kept before work no more."
          submitLabel="Get new ones"
          asked={renew}
          onClose={close}
        />
      )}
      {typeof open === 'object' && <RecoveryCodesDialog codes={open.codes} onClose={close} />}
    </Card>
  );
}

function Way({ name, children }: { name: string; children: ReactNode }): ReactElement {
  return (
    <div className="spread">
      <strong>{name}</strong>
      <div className="row">{children}</div>
    </div>
  );
}
